#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "calibration/calibration.h"
#include "config/problem.h"

namespace sluice::calibration {

// A calibration file is YAML; docs/placement.md shows one. Reading is strict: whatever is wrong becomes a
// problem with file, line and key, and a file with errors gives nullopt.
// Shape:  the version is 1; names are not empty and unique; medians and intervals are finite, not negative
// and
//         in order; at most kHostsMax hosts and kRoutesMax routes. Residuals may be negative.
inline constexpr std::size_t kHostsMax = 64, kRoutesMax = 10'000;
std::optional<Calibration> parse(const std::string& text, const std::string& file, config::Problems&);
std::optional<Calibration> load(const std::string& path, config::Problems&);

// The text of a file; parse() gives the same calibration back, times to the nanosecond.
std::string to_yaml(const Calibration&);

// Writes a file beside `path` and renames it: a reader sees the old one or the new one. Errors: the system's.
Result<void> save(const Calibration&, const std::string& path);

}  // namespace sluice::calibration
