#pragma once

#include <string>

#include "sluice/policy/pool_config.h"

namespace sluice::decide {

// The config event of a configuration, on one line: parse_event() of it gives the same configuration back.
std::string config_line(const policy::PoolConfig&);

}  // namespace sluice::decide
