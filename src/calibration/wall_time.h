#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "calibration/calibration.h"

namespace sluice::calibration {

// "2026-01-31T12:00:00Z" (ISO 8601, in UTC, to the second), from the year 1970 to 9999.
std::string wall_time_text(WallTime);
std::optional<WallTime> parse_wall_time(std::string_view text);

}  // namespace sluice::calibration
