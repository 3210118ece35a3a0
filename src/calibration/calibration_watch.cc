#include "calibration/calibration_watch.h"

#include <utility>

#include <sys/stat.h>

#include "calibration/calibration_file.h"

namespace sluice::calibration {

CalibrationWatch::News CalibrationWatch::look(const std::string& path) {
  Seen now{path, 0, 0, 0};
  struct stat status {};
  const bool there = !path.empty() && ::stat(path.c_str(), &status) == 0;
  if (there) {
    now.changed_ns =
        static_cast<std::int64_t>(status.st_mtim.tv_sec) * 1'000'000'000 + status.st_mtim.tv_nsec;
    now.size = status.st_size;
    now.inode = status.st_ino;
  }
  if (now == seen_) return News::None;
  if (path != seen_.path) calibration_ = nullptr;
  seen_ = std::move(now);
  problem_.clear();
  if (path.empty()) return News::None;
  config::Problems problems;
  auto loaded = load(path, problems);
  if (!loaded) {
    problem_ = problems.empty() ? path + " cannot be read" : config::to_string(problems.front());
    return there ? News::Broken : News::Missing;
  }
  calibration_ = std::make_shared<const Calibration>(*std::move(loaded));
  return News::Read;
}

}  // namespace sluice::calibration
