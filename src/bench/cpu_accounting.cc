#include "bench/cpu_accounting.h"

#include <array>

#include "base/text.h"

namespace sluice::bench {
namespace {

// Cuts the next word off; "" when there is none.
std::string_view next_word(std::string_view& text) {
  const auto begin = text.find_first_not_of(" \t\n");
  text.remove_prefix(begin == text.npos ? text.size() : begin);
  const auto end = text.find_first_of(" \t\n");
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(word.size());
  return word;
}

std::optional<double> quota(std::string_view granted, std::string_view period) {
  if (granted == "max") return 0;
  const auto up = to_number<std::int64_t>(granted), of = to_number<std::int64_t>(period);
  if (!up || !of || *of <= 0) return std::nullopt;
  return *up < 0 ? 0 : static_cast<double>(*up) / static_cast<double>(*of);
}

}  // namespace

std::optional<double> parse_cpuacct_usage(std::string_view text) {
  const auto nanoseconds = to_number<std::int64_t>(next_word(text));
  if (!nanoseconds || *nanoseconds < 0) return std::nullopt;
  return static_cast<double>(*nanoseconds) * 1e-9;
}

std::optional<double> parse_cpu_stat(std::string_view text) {
  for (std::string_view key = next_word(text); !key.empty(); key = next_word(text)) {
    const auto value = to_number<std::int64_t>(next_word(text));
    if (key != "usage_usec") continue;
    if (!value || *value < 0) return std::nullopt;
    return static_cast<double>(*value) * 1e-6;
  }
  return std::nullopt;
}

std::optional<double> parse_cpu_max(std::string_view text) {
  const std::string_view granted = next_word(text);
  return quota(granted, next_word(text));
}

std::optional<double> parse_cfs_quota(std::string_view granted, std::string_view period) {
  return quota(next_word(granted), next_word(period));
}

std::optional<ProcessTimes> parse_process_stat(std::string_view text) {
  // The name, in parentheses, may hold anything, parentheses and blanks too.
  const std::size_t name_end = text.rfind(')');
  if (name_end == text.npos) return std::nullopt;
  text.remove_prefix(name_end + 1);
  std::array<std::optional<std::int64_t>, 18> fields;  // from field 3, the state, which is a letter
  for (auto& field : fields)
    field = to_number<std::int64_t>(next_word(text));
  const auto at = [&](std::size_t field) { return fields[field - 3]; };
  const auto parent = at(4), user = at(14), system = at(15), children_user = at(16), children_system = at(17);
  if (!parent || !user || !system || !children_user || !children_system) return std::nullopt;
  return ProcessTimes{*parent, static_cast<double>(*user) + static_cast<double>(*system),
                      static_cast<double>(*children_user) + static_cast<double>(*children_system)};
}

}  // namespace sluice::bench
