#pragma once

#include <string>

#include "bench/run_info.h"

namespace sluice::bench {

// A few lines about a run, for people.
std::string summary_text(const RunInfo& info);

}  // namespace sluice::bench
