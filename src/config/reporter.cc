#include "config/reporter.h"

namespace sluice::config {

void Reporter::add(Severity severity, const std::string& key, std::string message, std::string hint) {
  std::size_t& count = severity == Severity::Error ? error_count_ : warning_count_;
  if (count++ >= kProblemCountMax) return;
  Position at;
  for (std::string around = key; !around.empty();) {
    if (const auto place = places_.find(around); place != places_.end()) {
      at = place->second;
      break;
    }
    const std::size_t cut = around.find_last_of(".[");
    around.resize(cut == around.npos ? 0 : cut);
  }
  problems_.push_back({file_, at.line, at.column, severity, key, std::move(message), std::move(hint)});
}

std::string indexed(std::string_view list, std::size_t index) {
  return std::string(list) + "[" + std::to_string(index) + "]";
}

}  // namespace sluice::config
