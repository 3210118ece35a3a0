#pragma once

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

namespace sluice::config {

// A file of the source tree.
inline std::string source_file(const std::string& name) {
  const char* const folder = std::getenv("SLUICE_SOURCE_DIR");
  std::ifstream file((folder == nullptr ? "." : std::string(folder)) + "/" + name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace sluice::config
