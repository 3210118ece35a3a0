#include "service/socket_names.h"

#include <algorithm>

#include <unistd.h>

namespace sluice::service {

SocketNames::SocketNames(const std::vector<std::string>& files) {
  const std::string behind = ".kept." + std::to_string(::getpid());
  for (const std::string& file : files) {
    const std::string second = file + behind;
    ::unlink(second.c_str());  // of a process that had our number
    if (::link(file.c_str(), second.c_str()) == 0) names_.emplace_back(file, second);
  }
}

SocketNames::~SocketNames() {
  for (const auto& [file, second] : names_)
    ::unlink(second.c_str());
}

void SocketNames::keep_only(const std::vector<std::string>& files) {
  std::erase_if(names_, [&](const auto& name) {
    const bool gone = std::find(files.begin(), files.end(), name.first) == files.end();
    if (gone) ::unlink(name.second.c_str());
    return gone;
  });
}

std::vector<std::string> SocketNames::restore() {
  std::vector<std::string> restored;
  for (const auto& [file, second] : names_)
    if (::link(second.c_str(), file.c_str()) == 0) restored.push_back(file);
  return restored;
}

}  // namespace sluice::service
