#pragma once

#include <map>
#include <string>

#include "import/translate.h"

namespace sluice::import::testing {

// Files by their paths, for ReadFile.
struct Files {
  std::map<std::string, std::string> texts;

  ReadFile reader() const {
    return [this](const std::string& path) -> FileRead {
      const auto found = texts.find(path);
      if (found == texts.end()) return {std::nullopt, "cannot be read: No such file or directory"};
      return {found->second, ""};
    };
  }
};

}  // namespace sluice::import::testing
