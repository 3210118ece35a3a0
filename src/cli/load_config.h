#pragma once

#include <memory>
#include <string>

#include "config/config.h"

namespace sluice::cli {

// Loads a configuration file for a command that needs one; prints every problem on standard error, one per
// line. Null if it has errors.
std::shared_ptr<const config::Config> load_config(const std::string& path);

}  // namespace sluice::cli
