#pragma once

#include <chrono>
#include <memory>
#include <string>

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

// The calibration file of the options, read again when it has changed. A file that cannot be read is logged
// once, and what was read before stays. On the control thread.
class CalibrationWatch {
 public:
  // Looks at the file's time and size; null without a file. One stat() where nothing has changed.
  std::shared_ptr<const calibration::Calibration> look(const std::string& path);

 private:
  struct Seen {
    std::string path;
    std::int64_t changed_ns = 0, size = 0;
    std::uint64_t inode = 0;
    friend bool operator==(const Seen&, const Seen&) = default;
  };
  Seen seen_;
  std::shared_ptr<const calibration::Calibration> calibration_;
};

}  // namespace sluice::router
