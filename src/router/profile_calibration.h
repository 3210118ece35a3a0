#pragma once

#include <chrono>

#include "calibration/calibration.h"
#include "profile/contents.h"

namespace sluice::router {

// Puts what a calibration found into contents that the router has measured: hosts' paths, residuals, the
// N_serial that it went by; routes that the router has not seen are added. SELECT 1 as the calibration
// measured it on the host stands in where a leg of the matrix is missing. Hosts that the router does not know
// are passed over. Pure. Residuals are those for the N_serial that the router observes, where it observes one
// (at most a tenth of the route's calls untraced), else as they stand in the file.
void apply_calibration(profile::Contents& contents, const calibration::Calibration& calibration,
                       profile::Moment now, std::chrono::system_clock::time_point wall_now);

}  // namespace sluice::router
