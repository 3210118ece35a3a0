#pragma once

#include "config/enums.h"
#include "telemetry/log.h"

namespace sluice::log {

Format format_of(config::LogFormat format) noexcept;

// What the options log_level and log_format of either daemon ask for.
Settings settings_of(config::LogLevel level, config::LogFormat format);

}  // namespace sluice::log
