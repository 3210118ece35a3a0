#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "calibration/calibration.h"

namespace sluice::calibration {

// A calibration file, read again whenever it has changed: it may come later than the daemon that uses it, and
// be written anew at any time. A file that is missing or has mistakes leaves what was read from the same path
// before in use. One thread.
class CalibrationWatch {
 public:
  enum class News {
    None,     // as at the last look
    Read,     // calibration() is new
    Missing,  // problem() says why it is not used
    Broken,   // the same
  };
  // Looks at the file's time and size; a path of "" is no file. One stat() where nothing has changed.
  News look(const std::string& path);

  // Null as long as none was read.
  const std::shared_ptr<const Calibration>& calibration() const noexcept { return calibration_; }
  // One line for people, with file, and line where there is one; "" while the file as it is now is in use.
  const std::string& problem() const noexcept { return problem_; }

 private:
  struct Seen {
    std::string path;
    std::int64_t changed_ns = 0, size = 0;
    std::uint64_t inode = 0;
    friend bool operator==(const Seen&, const Seen&) = default;
  };
  Seen seen_;
  std::string problem_;
  std::shared_ptr<const Calibration> calibration_;
};

}  // namespace sluice::calibration
