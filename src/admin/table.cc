#include "admin/table.h"

#include <array>
#include <ctime>

#include "admin/text.h"

namespace sluice::admin {
namespace {

struct CellText {
  std::string operator()(std::monostate) const { return {}; }
  std::string operator()(std::int64_t value) const { return std::to_string(value); }
  std::string operator()(bool value) const { return value ? "yes" : "no"; }
  std::string operator()(const std::string& value) const { return displayable(value); }
  std::string operator()(const ClassCounts& counts) const {
    std::string text;
    for (const auto& [name, count] : counts) {
      if (!text.empty()) text += ',';
      text += displayable(name) + '=' + std::to_string(count);
    }
    return text;
  }
  std::string operator()(const FieldsList& records) const {
    std::string text;
    for (const Fields& record : records) {
      if (!text.empty()) text += "; ";
      bool first = true;
      for (const auto& [name, value] : record) {
        if (!first) text += ' ';
        first = false;
        text.append(name).append("=").append(displayable(value));
      }
    }
    return text;
  }
};

}  // namespace

std::string cell_text(const Cell& cell) {
  return std::visit(CellText{}, cell);
}

std::string time_text(WallTime time) {
  if (time == WallTime{}) return {};
  const std::time_t seconds = std::chrono::system_clock::to_time_t(time);
  std::tm parts{};
  if (gmtime_r(&seconds, &parts) == nullptr) return {};
  std::array<char, 64> text{};
  const std::size_t length = std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S UTC", &parts);
  return {text.data(), length};
}

}  // namespace sluice::admin
