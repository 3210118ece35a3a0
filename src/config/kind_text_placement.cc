// The kinds that only the placer's tables use.

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "config/kind_text.h"

namespace sluice::config {
namespace {

constexpr double kNumberMax = 1e6;

std::optional<double> parse_number(std::string_view text, std::string_view& rest) {
  double number = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (error != std::errc() || !std::isfinite(number) || number < 0 || number > kNumberMax)
    return std::nullopt;
  rest = text.substr(static_cast<std::size_t>(end - text.data()));
  return number;
}

std::optional<std::chrono::nanoseconds> parse_time(std::string_view text) {
  std::string_view unit;
  const std::optional<double> number = parse_number(text, unit);
  if (!number) return std::nullopt;
  while (unit.starts_with(' '))
    unit.remove_prefix(1);
  const double in_ns = unit == "us" ? 1e3 : unit.empty() || unit == "ms" ? 1e6 : unit == "s" ? 1e9 : 0;
  if (in_ns == 0) return std::nullopt;
  return std::chrono::nanoseconds(std::llround(*number * in_ns));
}

std::optional<double> parse_whole_number(std::string_view text) {
  std::string_view rest;
  const std::optional<double> number = parse_number(text, rest);
  return rest.empty() ? number : std::nullopt;
}

// Reads {name: value, ...}; `parse` gives nullopt for what is not `expected`.
template <class Value, class Parse>
std::string read_named(const Node& node, const Limits& limits, const std::string& expected,
                       const Parse& parse, std::vector<std::pair<std::string, Value>>& values) {
  if (node.kind != Node::Kind::Map) return not_as_expected(node, expected);
  if (static_cast<std::int64_t>(node.entries.size()) > limits.max)
    return std::to_string(node.entries.size()) + " keys are more than " + std::to_string(limits.max);
  std::vector<std::pair<std::string, Value>> read;
  for (const Node::Entry& entry : node.entries) {
    const std::optional<Value> value =
        entry.value.kind == Node::Kind::Scalar ? parse(entry.value.scalar) : std::optional<Value>();
    if (!value) return "the value of " + entry.key.substr(0, 80) + " is none: expected " + expected;
    read.emplace_back(entry.key, *value);
  }
  values = std::move(read);
  return "";
}

template <class Value, class Print>
std::string print_named(const std::vector<std::pair<std::string, Value>>& values, const Print& print) {
  if (values.empty()) return "[]";
  std::string out = "{";
  for (const auto& [name, value] : values)
    out += (out.size() > 1 ? ", " : "") + quoted_if_needed(name) + ": " + print(value);
  return out + "}";
}

}  // namespace

template <>
std::string KindText<kind::Times>::expects(const Limits& limits) {
  return "a set of at most " + std::to_string(limits.max) +
         " names with a time each, such as {a: 0.35ms, b: 1.2}";
}
template <>
std::string KindText<kind::Times>::read(const Node& node, const Limits& limits, NamedTimes& value) {
  return read_named(node, limits, expects(limits), parse_time, value);
}
template <>
std::string KindText<kind::Times>::print(const NamedTimes& value) {
  return print_named(value, [](std::chrono::nanoseconds time) {
    return fmt::format("{}ms", std::chrono::duration<double, std::milli>(time).count());
  });
}

template <>
std::string KindText<kind::Numbers>::expects(const Limits& limits) {
  return "a set of at most " + std::to_string(limits.max) + " names with a number each, such as {/feed: 2}";
}
template <>
std::string KindText<kind::Numbers>::read(const Node& node, const Limits& limits, NamedNumbers& value) {
  return read_named(node, limits, expects(limits), parse_whole_number, value);
}
template <>
std::string KindText<kind::Numbers>::print(const NamedNumbers& value) {
  return print_named(value, [](double number) { return fmt::format("{}", number); });
}

template <>
std::string KindText<kind::Serial>::expects(const Limits&) {
  return "profile, calibrated, or a number";
}
template <>
std::string KindText<kind::Serial>::read(const Node& node, const Limits& limits, SerialCalls& value) {
  if (node.kind != Node::Kind::Scalar) return not_as_expected(node, expects(limits));
  if (node.scalar == "profile") return value = {SerialCalls::Source::Profile, 0}, "";
  if (node.scalar == "calibrated") return value = {SerialCalls::Source::Calibrated, 0}, "";
  const std::optional<double> number = parse_whole_number(node.scalar);
  if (!number) return not_as_expected(node, expects(limits));
  value = {SerialCalls::Source::Fixed, *number};
  return "";
}
template <>
std::string KindText<kind::Serial>::print(const SerialCalls& value) {
  switch (value.source) {
    case SerialCalls::Source::Profile:
      return "profile";
    case SerialCalls::Source::Calibrated:
      return "calibrated";
    case SerialCalls::Source::Fixed:
      return fmt::format("{}", value.number);
  }
  return "";
}

}  // namespace sluice::config
