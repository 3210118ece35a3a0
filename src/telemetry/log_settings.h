#pragma once

#include <string>

#include "config/enums.h"
#include "telemetry/log.h"

namespace sluice::log {

Format format_of(config::LogFormat format) noexcept;

// What the options log_level, log_format and log_file of either daemon ask for.
Settings settings_of(config::LogLevel level, config::LogFormat format, const std::string& file);

}  // namespace sluice::log
