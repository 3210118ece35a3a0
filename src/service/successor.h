#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace sluice::service {

// Starts `command` (its first word looked for in PATH unless it has a slash) as a process that is nobody's
// child: whoever reaps orphans here, a service manager for instance, has it. It gets none of our descriptors
// but the first three, no blocked signal, and the environment without WATCHDOG_PID, as it is another process
// that is watched then.
// Errors: no process could be made. A program that is not there is noticed only by its silence.
Result<void> start_successor(const std::vector<std::string>& command);

}  // namespace sluice::service
