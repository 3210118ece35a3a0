#include "config/kind_text.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/text.h"

namespace sluice::config {
namespace {

struct Unit {
  std::string_view suffix;
  std::int64_t factor;
};
constexpr Unit kTimeUnits[] = {{"ms", 1}, {"s", 1000}, {"min", 60'000}, {"h", 3'600'000}, {"d", 86'400'000}};
constexpr Unit kByteUnits[] = {
    {"B", 1}, {"kB", 1 << 10}, {"MB", 1 << 20}, {"GB", 1 << 30}, {"TB", std::int64_t{1} << 40}};

std::string range_text(const Limits& limits) {
  return " from " + std::to_string(limits.min) + " to " + std::to_string(limits.max);
}

// What a value that is not as expected is called in a message. Long ones are cut: this goes to a terminal.
std::string shown(std::string_view text) {
  constexpr std::size_t kShownBytesMax = 80;
  return "\"" + without_controls(text.substr(0, kShownBytesMax)) +
         (text.size() > kShownBytesMax ? "...\"" : "\"");
}

// A whole number with an optional unit, in multiples of `base`.
std::optional<std::int64_t> parse_quantity(std::string_view text, std::span<const Unit> units,
                                           std::int64_t base) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < 0) return std::nullopt;
  std::string_view suffix = text.substr(static_cast<std::size_t>(end - text.data()));
  while (suffix.starts_with(' '))
    suffix.remove_prefix(1);
  if (suffix.empty()) return number;
  for (const Unit& unit : units) {
    if (unit.suffix != suffix) continue;
    if (number > INT64_MAX / unit.factor) return std::nullopt;
    const std::int64_t total = number * unit.factor;
    return total % base == 0 ? std::optional(total / base) : std::nullopt;
  }
  return std::nullopt;
}

std::string read_quantity(const Node& node, const Limits& limits, std::span<const Unit> units,
                          std::int64_t base, const std::string& expected, std::int64_t& number) {
  if (node.kind != Node::Kind::Scalar) return not_as_expected(node, expected);
  const std::optional<std::int64_t> parsed = parse_quantity(node.scalar, units, base);
  if (!parsed || *parsed < limits.min || *parsed > limits.max) return not_as_expected(node, expected);
  number = *parsed;
  return "";
}

// A quantity of `base`, in the largest of `units` that holds it exactly.
std::string print_quantity(std::int64_t number, std::span<const Unit> units, std::int64_t base) {
  std::string best = std::to_string(number);
  if (number == 0) return best;
  for (const Unit& unit : units)
    if (unit.factor >= base && number % (unit.factor / base) == 0)
      best = std::to_string(number / (unit.factor / base)) + std::string(unit.suffix);
  return best;
}

bool is_name_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
         c == '-' || c == ':' || c == '/' || c == '[' || c == ']' || c == '*' || c == '%' || c == '@';
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t'))
    text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t'))
    text.remove_suffix(1);
  return text;
}

std::string read_texts(const Node& node, const Limits& limits, const std::string& expected,
                       std::vector<std::string>& texts) {
  std::vector<std::string> read;
  if (node.kind == Node::Kind::Scalar) {
    std::string_view rest = node.scalar;
    while (!trimmed(rest).empty()) {
      const std::size_t comma = rest.find(',');
      const std::string_view word = trimmed(rest.substr(0, comma));
      if (word.empty()) return shown(node.scalar) + " has an empty word between commas";
      read.emplace_back(word);
      rest = comma == rest.npos ? std::string_view() : rest.substr(comma + 1);
    }
  } else if (node.kind == Node::Kind::List) {
    for (const Node& item : node.items) {
      if (item.kind != Node::Kind::Scalar || item.scalar.empty()) return "an element is not a word";
      read.push_back(item.scalar);
    }
  } else {
    return not_as_expected(node, expected);
  }
  if (static_cast<std::int64_t>(read.size()) > limits.max)
    return std::to_string(read.size()) + " words are more than " + std::to_string(limits.max);
  texts = std::move(read);
  return "";
}

std::string print_texts(const std::vector<std::string>& texts) {
  if (texts.size() == 1) return quoted_if_needed(texts.front());
  std::string out = "[";
  for (const std::string& text : texts)
    out += (out.size() > 1 ? ", " : "") + quoted_if_needed(text);
  return out + "]";
}

}  // namespace

std::string not_as_expected(const Node& node, const std::string& expected) {
  const std::string what =
      node.kind == Node::Kind::Scalar ? shown(node.scalar) : std::string(kind_word(node.kind));
  return what + " is not " + expected;
}

std::string list_words(std::span<const std::string_view> words) {
  std::string out;
  for (std::size_t i = 0; i < words.size(); ++i)
    out += (i == 0 ? "" : i + 1 == words.size() ? " or " : ", ") + std::string(words[i]);
  return out;
}

std::string quoted_if_needed(std::string_view text) {
  const auto is_bare_byte = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-' || c == '/' || c == ':';
  };
  static constexpr std::string_view kNotBare[] = {"null", "Null", "NULL", "-", "."};
  const bool bare = !text.empty() && std::all_of(text.begin(), text.end(), is_bare_byte) &&
                    text.front() != '-' && text.front() != ':' && text.back() != ':' &&
                    std::find(std::begin(kNotBare), std::end(kNotBare), text) == std::end(kNotBare);
  if (bare) return std::string(text);
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f) {
      out += c;
      continue;
    }
    constexpr std::string_view kDigits = "0123456789abcdef";
    out += "\\x";
    out += kDigits[static_cast<unsigned char>(c) >> 4];
    out += kDigits[static_cast<unsigned char>(c) & 15];
  }
  return out + "\"";
}

template <>
std::string KindText<kind::Seconds>::expects(const Limits& limits) {
  return "a time in seconds" + range_text(limits);
}
template <>
std::string KindText<kind::Seconds>::read(const Node& node, const Limits& limits,
                                          std::chrono::seconds& value) {
  std::int64_t number = 0;
  std::string wrong = read_quantity(node, limits, kTimeUnits, 1000, expects(limits), number);
  if (wrong.empty()) value = std::chrono::seconds(number);
  return wrong;
}
template <>
std::string KindText<kind::Seconds>::print(const std::chrono::seconds& value) {
  return print_quantity(value.count(), kTimeUnits, 1000);
}

template <>
std::string KindText<kind::Milliseconds>::expects(const Limits& limits) {
  return "a time in milliseconds" + range_text(limits);
}
template <>
std::string KindText<kind::Milliseconds>::read(const Node& node, const Limits& limits,
                                               std::chrono::milliseconds& value) {
  std::int64_t number = 0;
  std::string wrong = read_quantity(node, limits, kTimeUnits, 1, expects(limits), number);
  if (wrong.empty()) value = std::chrono::milliseconds(number);
  return wrong;
}
template <>
std::string KindText<kind::Milliseconds>::print(const std::chrono::milliseconds& value) {
  return print_quantity(value.count(), kTimeUnits, 1);
}

template <>
std::string KindText<kind::Count>::expects(const Limits& limits) {
  return "a whole number" + range_text(limits);
}
template <>
std::string KindText<kind::Count>::read(const Node& node, const Limits& limits, std::uint32_t& value) {
  std::int64_t number = 0;
  std::string wrong = read_quantity(node, limits, {}, 1, expects(limits), number);
  if (wrong.empty()) value = static_cast<std::uint32_t>(number);
  return wrong;
}
template <>
std::string KindText<kind::Count>::print(const std::uint32_t& value) {
  return std::to_string(value);
}

template <>
std::string KindText<kind::FileMode>::expects(const Limits&) {
  return "permissions in octal, from 0000 to 0777";
}
template <>
std::string KindText<kind::FileMode>::read(const Node& node, const Limits& limits, std::uint16_t& value) {
  std::uint16_t mode = 0;
  const char* const end = node.scalar.data() + node.scalar.size();
  const auto [stop, error] = std::from_chars(node.scalar.data(), end, mode, 8);
  const bool good = node.kind == Node::Kind::Scalar && error == std::errc() && stop == end;
  if (!good || mode > limits.max) return not_as_expected(node, expects(limits));
  value = mode;
  return "";
}
template <>
std::string KindText<kind::FileMode>::print(const std::uint16_t& value) {
  std::string digits = "0000";
  for (std::size_t i = 0; i < digits.size(); ++i)
    digits[i] = static_cast<char>('0' + (value >> (9 - 3 * i) & 7));
  return digits;
}

template <>
std::string KindText<kind::Bytes>::expects(const Limits& limits) {
  return "a size in bytes" + range_text(limits);
}
template <>
std::string KindText<kind::Bytes>::read(const Node& node, const Limits& limits, std::uint64_t& value) {
  std::int64_t number = 0;
  std::string wrong = read_quantity(node, limits, kByteUnits, 1, expects(limits), number);
  if (wrong.empty()) value = static_cast<std::uint64_t>(number);
  return wrong;
}
template <>
std::string KindText<kind::Bytes>::print(const std::uint64_t& value) {
  return print_quantity(static_cast<std::int64_t>(value), kByteUnits, 1);
}

template <>
std::string KindText<kind::Flag>::expects(const Limits&) {
  return "true or false";
}
template <>
std::string KindText<kind::Flag>::read(const Node& node, const Limits& limits, bool& value) {
  static constexpr std::string_view kTrue[] = {"true", "on", "yes", "1"};
  static constexpr std::string_view kFalse[] = {"false", "off", "no", "0"};
  if (node.kind == Node::Kind::Scalar) {
    if (std::find(std::begin(kTrue), std::end(kTrue), node.scalar) != std::end(kTrue))
      return value = true, "";
    if (std::find(std::begin(kFalse), std::end(kFalse), node.scalar) != std::end(kFalse))
      return value = false, "";
  }
  return not_as_expected(node, expects(limits));
}
template <>
std::string KindText<kind::Flag>::print(const bool& value) {
  return value ? "true" : "false";
}

template <>
std::string KindText<kind::Text>::expects(const Limits& limits) {
  return "a text of " + std::to_string(limits.min) + " to " + std::to_string(limits.max) + " bytes";
}
template <>
std::string KindText<kind::Text>::read(const Node& node, const Limits& limits, std::string& value) {
  if (node.kind != Node::Kind::Scalar) return not_as_expected(node, expects(limits));
  const auto size = static_cast<std::int64_t>(node.scalar.size());
  if (size < limits.min || size > limits.max) return not_as_expected(node, expects(limits));
  value = node.scalar;
  return "";
}
template <>
std::string KindText<kind::Text>::print(const std::string& value) {
  return quoted_if_needed(value);
}

template <>
std::string KindText<kind::Name>::expects(const Limits& limits) {
  return "a name of " + std::to_string(limits.min) + " to " + std::to_string(limits.max) +
         " letters, digits and . _ - : / [ ] * % @";
}
template <>
std::string KindText<kind::Name>::read(const Node& node, const Limits& limits, std::string& value) {
  if (node.kind != Node::Kind::Scalar) return not_as_expected(node, expects(limits));
  const auto size = static_cast<std::int64_t>(node.scalar.size());
  if (size < limits.min || size > limits.max ||
      !std::all_of(node.scalar.begin(), node.scalar.end(), is_name_byte))
    return not_as_expected(node, expects(limits));
  value = node.scalar;
  return "";
}
template <>
std::string KindText<kind::Name>::print(const std::string& value) {
  return quoted_if_needed(value);
}

template <>
std::string KindText<kind::Path>::expects(const Limits& limits) {
  return "a file name of at most " + std::to_string(limits.max) + " bytes";
}
template <>
std::string KindText<kind::Path>::read(const Node& node, const Limits& limits, std::string& value) {
  std::string wrong = KindText<kind::Text>::read(node, limits, value);
  return wrong.empty() ? wrong : not_as_expected(node, expects(limits));
}
template <>
std::string KindText<kind::Path>::print(const std::string& value) {
  return quoted_if_needed(value);
}

template <>
std::string KindText<kind::TextList>::expects(const Limits& limits) {
  return "a list of at most " + std::to_string(limits.max) + " words";
}
template <>
std::string KindText<kind::TextList>::read(const Node& node, const Limits& limits,
                                           std::vector<std::string>& value) {
  return read_texts(node, limits, expects(limits), value);
}
template <>
std::string KindText<kind::TextList>::print(const std::vector<std::string>& value) {
  return print_texts(value);
}

template <>
std::string KindText<kind::Patterns>::expects(const Limits& limits) {
  return "a list of at most " + std::to_string(limits.max) + " names or patterns";
}
template <>
std::string KindText<kind::Patterns>::read(const Node& node, const Limits& limits,
                                           std::vector<std::string>& value) {
  return read_texts(node, limits, expects(limits), value);
}
template <>
std::string KindText<kind::Patterns>::print(const std::vector<std::string>& value) {
  return print_texts(value);
}

template <>
std::string KindText<kind::NetworkList>::expects(const Limits& limits) {
  return "a list of at most " + std::to_string(limits.max) + " networks such as 10.0.0.0/8, fd00::/8 or unix";
}
template <>
std::string KindText<kind::NetworkList>::read(const Node& node, const Limits& limits, Networks& value) {
  std::vector<std::string> texts;
  std::string wrong = read_texts(node, limits, expects(limits), texts);
  if (!wrong.empty()) return wrong;
  Networks networks;
  for (const std::string& text : texts) {
    const std::optional<Network> network = parse_network(text);
    if (!network) {
      return shown(text) +
             " is not a network such as 10.0.0.0/8, fd00::/8 or unix, without bits behind the prefix";
    }
    networks.push_back(*network);
  }
  value = std::move(networks);
  return "";
}
template <>
std::string KindText<kind::NetworkList>::print(const Networks& value) {
  std::vector<std::string> texts;
  for (const Network& network : value)
    texts.push_back(to_string(network));
  return print_texts(texts);
}

template <>
std::string KindText<kind::Fraction>::expects(const Limits&) {
  return "a decimal from 0 to 1 with at most nine digits after the point";
}
template <>
std::string KindText<kind::Fraction>::read(const Node& node, const Limits& limits, Ratio& value) {
  const std::optional<Ratio> ratio =
      node.kind == Node::Kind::Scalar ? Ratio::parse(node.scalar) : std::optional<Ratio>();
  if (!ratio) return not_as_expected(node, expects(limits));
  value = *ratio;
  return "";
}
template <>
std::string KindText<kind::Fraction>::print(const Ratio& value) {
  return value.to_string();
}

template <>
std::string KindText<kind::Weighting>::expects(const Limits&) {
  return "a decimal from 0.001 to 1000 with at most three digits after the point";
}
template <>
std::string KindText<kind::Weighting>::read(const Node& node, const Limits& limits, Weight& value) {
  const std::optional<Weight> weight =
      node.kind == Node::Kind::Scalar ? Weight::parse(node.scalar) : std::optional<Weight>();
  if (!weight) return not_as_expected(node, expects(limits));
  value = *weight;
  return "";
}
template <>
std::string KindText<kind::Weighting>::print(const Weight& value) {
  return value.to_string();
}

}  // namespace sluice::config
