#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace sluice::config {

struct FileText {
  std::optional<std::string> text;  // nullopt: see `problem`
  std::string problem;              // "cannot be opened: No such file or directory"
  bool others_can_read = false;     // by its mode
};

// Reads a regular file of at most `bytes_max` bytes. Never waits (a FIFO is refused).
FileText read_file(const std::string& path, std::size_t bytes_max);

// `path` as seen from the folder of the file `from`. Absolute and empty paths stay as they are.
std::string path_from(const std::string& from, const std::string& path);

}  // namespace sluice::config
