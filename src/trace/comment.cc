#include "trace/comment.h"

#include <array>
#include <utility>

#include "base/utf8.h"

namespace sluice::trace {
namespace {

constexpr int hex_digit(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

constexpr bool is_key_character(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
         c == '.' || c == '%';
}

// Only lower case is valid in a traceparent.
std::optional<std::uint64_t> lower_hex(std::string_view digits) noexcept {
  std::uint64_t value = 0;
  for (const char c : digits) {
    const int digit = hex_digit(c);
    if (digit < 0 || (c >= 'A' && c <= 'F')) return std::nullopt;
    value = value << 4 | static_cast<std::uint64_t>(digit);
  }
  return value;
}

struct Pair {
  std::string_view key, value;  // the value as written between its quotes
};

// Reads pairs off the inside of a comment.
class PairReader {
 public:
  explicit PairReader(std::string_view inside) noexcept : rest_(inside) { skip_padding(); }

  bool at_end() const noexcept { return rest_.empty(); }
  // nullopt: the comment is not sqlcommenter's.
  std::optional<Pair> next() noexcept {
    Pair pair;
    std::size_t length = 0;
    while (length < rest_.size() && is_key_character(rest_[length]))
      ++length;
    pair.key = rest_.substr(0, length);
    rest_.remove_prefix(length);
    if (pair.key.empty() || !take('=') || !take_opening_quote()) return std::nullopt;
    const std::optional<std::size_t> end = find_closing_quote();
    if (!end) return std::nullopt;
    pair.value = rest_.substr(0, *end);
    rest_.remove_prefix(*end + 1);
    skip_padding();
    if (!rest_.empty() && !take(',')) return std::nullopt;
    return pair;
  }

 private:
  void skip_padding() noexcept {
    while (!rest_.empty() && detail::is_padding(rest_.front()))
      rest_.remove_prefix(1);
  }
  bool take(char wanted) noexcept {
    skip_padding();
    if (rest_.empty() || rest_.front() != wanted) return false;
    rest_.remove_prefix(1);
    skip_padding();
    return true;
  }
  bool take_opening_quote() noexcept {
    if (rest_.empty() || rest_.front() != '\'') return false;
    rest_.remove_prefix(1);
    return true;
  }
  // A backslash keeps the next character from ending the value.
  std::optional<std::size_t> find_closing_quote() const noexcept {
    for (std::size_t i = 0; i < rest_.size(); ++i) {
      if (rest_[i] == '\'') return i;
      if (rest_[i] == '\\') ++i;
    }
    return std::nullopt;
  }

  std::string_view rest_;
};

// nullopt for a bad percent code, or a result longer than `bytes_max`.
std::optional<std::string> decode(std::string_view written, std::size_t bytes_max) {
  std::string decoded;
  for (std::size_t i = 0; i < written.size(); ++i) {
    char c = written[i];
    if (c == '%') {
      if (written.size() - i < 3) return std::nullopt;
      const int high = hex_digit(written[i + 1]);
      const int low = hex_digit(written[i + 2]);
      if (high < 0 || low < 0) return std::nullopt;
      c = static_cast<char>(high << 4 | low);
      i += 2;
    }
    // Unescaped as it comes: what was decoded before is complete.
    if (c == '\'' && !decoded.empty() && decoded.back() == '\\') decoded.pop_back();
    if (decoded.size() == bytes_max) return std::nullopt;
    decoded.push_back(c);
  }
  return decoded;
}

// UTF-8 without control characters: what consoles, logs and Prometheus can show.
bool is_printable(std::string_view text) noexcept {
  for (const char c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) return false;
  return is_utf8(text);
}

std::string route_text(std::string_view written) {
  std::optional<std::string> decoded = decode(written, kRouteBytesMax);
  return decoded && is_printable(*decoded) ? *std::move(decoded) : std::string();
}

struct Found {
  std::string route, controller, action;
  TraceId trace;
};

void take_pair(Found& found, const Pair& pair) {
  if (pair.key == "route") {
    if (std::string text = route_text(pair.value); !text.empty()) found.route = std::move(text);
  } else if (pair.key == "traceparent") {
    // Its characters need no encoding; some encode all the same.
    const std::optional<std::string> decoded = decode(pair.value, kRouteBytesMax);
    if (const auto id = decoded ? parse_traceparent(*decoded) : std::nullopt) found.trace = *id;
  } else if (pair.key == "controller") {
    if (std::string text = route_text(pair.value); !text.empty()) found.controller = std::move(text);
  } else if (pair.key == "action") {
    if (std::string text = route_text(pair.value); !text.empty()) found.action = std::move(text);
  }
}

// Adds what the inside of one comment says; nothing when any of it is not sqlcommenter's.
void read_inside(Found& found, std::string_view inside) {
  std::array<Pair, kCommentKeysMax> pairs;
  std::size_t count = 0;
  PairReader reader(inside);
  while (!reader.at_end()) {
    const std::optional<Pair> pair = reader.next();
    if (!pair || count == pairs.size()) return;
    pairs[count++] = *pair;
  }
  for (std::size_t i = 0; i < count; ++i)
    take_pair(found, pairs[i]);
}

// The inside of the comment at the beginning; empty without one.
std::string_view front_comment(std::string_view sql) noexcept {
  sql = detail::without_front_padding(sql);
  if (!sql.starts_with("/*")) return {};
  sql = sql.substr(2, kCommentBytesMax);
  const std::size_t end = sql.find("*/");
  return end == std::string_view::npos ? std::string_view() : sql.substr(0, end);
}

std::string_view back_comment(std::string_view sql) noexcept {
  sql = detail::without_back_padding(sql);
  if (!sql.ends_with("*/")) return {};
  sql.remove_suffix(2);
  if (sql.size() > kCommentBytesMax) sql.remove_prefix(sql.size() - kCommentBytesMax);
  const std::size_t begin = sql.rfind("/*");
  if (begin == std::string_view::npos) return {};
  sql.remove_prefix(begin + 2);
  return sql.find("*/") == std::string_view::npos ? sql : std::string_view();
}

}  // namespace

std::optional<TraceId> parse_traceparent(std::string_view text) noexcept {
  constexpr std::size_t kBytes = 55;  // 2 + 1 + 32 + 1 + 16 + 1 + 2
  if (text.size() < kBytes || text[2] != '-' || text[35] != '-' || text[52] != '-') return std::nullopt;
  const auto version = lower_hex(text.substr(0, 2));
  const auto high = lower_hex(text.substr(3, 16));
  const auto low = lower_hex(text.substr(19, 16));
  const auto span = lower_hex(text.substr(36, 16));
  const auto flags = lower_hex(text.substr(53, 2));
  if (!version || !high || !low || !span || !flags || *version == 0xFF || *span == 0) return std::nullopt;
  if (text.size() > kBytes && (*version == 0 || text[kBytes] != '-')) return std::nullopt;
  const TraceId id{*high, *low};
  return id ? std::optional(id) : std::nullopt;
}

Tags read_comments(std::string_view front, std::string_view back) {
  Found found;
  read_inside(found, front_comment(front));
  read_inside(found, back_comment(back));
  Tags tags;
  tags.trace = found.trace;
  tags.route = std::move(found.route);
  if (tags.route.empty() && !found.controller.empty()) {
    tags.route = std::move(found.controller);
    if (!found.action.empty()) (tags.route += '#') += found.action;
    if (tags.route.size() > kRouteBytesMax) tags.route.clear();
  }
  return tags;
}

}  // namespace sluice::trace
