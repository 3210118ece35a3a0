#pragma once

#include <map>
#include <string>
#include <string_view>

#include "config/problem.h"
#include "config/yaml_tree.h"

namespace sluice::config {

// Collects the problems of one configuration file and knows where each key stands.
class Reporter {
 public:
  Reporter(std::string file, Problems& problems) : file_(std::move(file)), problems_(problems) {}

  void remember(const std::string& key, Position at) { places_.emplace(key, at); }
  bool given(const std::string& key) const { return places_.contains(key); }

  // At the place of `key` ("rules[2].class"), or of the nearest key around it that the file holds.
  void error(const std::string& key, std::string message, std::string hint = {}) {
    add(Severity::Error, key, std::move(message), std::move(hint));
  }
  void warning(const std::string& key, std::string message, std::string hint = {}) {
    add(Severity::Warning, key, std::move(message), std::move(hint));
  }
  // Whether further errors would be dropped.
  bool full() const noexcept { return error_count_ >= kProblemCountMax; }
  const std::string& file() const noexcept { return file_; }
  Problems& problems() noexcept { return problems_; }

 private:
  void add(Severity, const std::string& key, std::string message, std::string hint);

  std::string file_;
  Problems& problems_;
  std::map<std::string, Position> places_;
  std::size_t error_count_ = 0;  // of those reported here, the dropped ones too
  std::size_t warning_count_ = 0;
};

// "rules[2]"
std::string indexed(std::string_view list, std::size_t index);

}  // namespace sluice::config
