#include "trace/comment.h"

#include <array>

#include "base/utf8.h"

namespace sluice::trace {
namespace {

constexpr std::int8_t kNoDigit = -1;

// Values of hexadecimal digits; 16 more for those in upper case.
constexpr std::array<std::int8_t, 256> hex_digits() {
  std::array<std::int8_t, 256> values{};
  values.fill(kNoDigit);
  for (int i = 0; i < 10; ++i)
    values[static_cast<std::size_t>('0' + i)] = static_cast<std::int8_t>(i);
  for (int i = 10; i < 16; ++i) {
    values[static_cast<std::size_t>('a' + i - 10)] = static_cast<std::int8_t>(i);
    values[static_cast<std::size_t>('A' + i - 10)] = static_cast<std::int8_t>(i + 16);
  }
  return values;
}
constexpr std::array<std::int8_t, 256> kHexDigits = hex_digits();

constexpr int hex_digit(char c) noexcept {
  return kHexDigits[static_cast<unsigned char>(c)];
}

constexpr bool is_key_character(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
         c == '.' || c == '%';
}

// Only lower case is valid in a traceparent.
std::optional<std::uint64_t> lower_hex(std::string_view digits) noexcept {
  std::uint64_t value = 0;
  unsigned bad = 0;
  for (const char c : digits) {
    const int digit = hex_digit(c);
    bad |= static_cast<unsigned>(digit) & ~15U;
    value = value << 4 | (static_cast<unsigned>(digit) & 15U);
  }
  return bad == 0 ? std::optional(value) : std::nullopt;
}

struct Pair {
  std::string_view key, value;  // the value as written between its quotes
};

// Reads pairs off the inside of a comment.
class PairReader {
 public:
  explicit PairReader(std::string_view inside) noexcept : rest_(inside) { skip_padding(); }

  bool at_end() const noexcept { return rest_.empty(); }
  // False: the comment is not sqlcommenter's.
  bool next(Pair& pair) noexcept {
    std::size_t length = 0;
    while (length < rest_.size() && is_key_character(rest_[length]))
      ++length;
    pair.key = rest_.substr(0, length);
    rest_.remove_prefix(length);
    if (length == 0 || !take('=') || rest_.empty() || rest_.front() != '\'') return false;
    rest_.remove_prefix(1);
    const std::size_t end = find_closing_quote();
    if (end == std::string_view::npos) return false;
    pair.value = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    skip_padding();
    return rest_.empty() || take(',');
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
  // A quote behind an odd number of backslashes does not end the value.
  std::size_t find_closing_quote() const noexcept {
    std::size_t at = rest_.find('\'');
    while (at != std::string_view::npos) {
      std::size_t begin = at;
      while (begin > 0 && rest_[begin - 1] == '\\')
        --begin;
      if ((at - begin) % 2 == 0) break;
      at = rest_.find('\'', at + 1);
    }
    return at;
  }

  std::string_view rest_;
};

// Room for a decoded value.
using Buffer = std::array<char, kRouteBytesMax>;

// The decoded value, in `buffer` or where it was written; nullopt for a bad percent code, and for a result
// that is too long.
std::optional<std::string_view> decode(std::string_view written, Buffer& buffer) {
  constexpr auto kNone = std::string_view::npos;
  if (written.find('%') == kNone && written.find('\\') == kNone)
    return written.size() <= buffer.size() ? std::optional(written) : std::nullopt;
  std::size_t size = 0;
  for (std::size_t i = 0; i < written.size(); ++i) {
    char c = written[i];
    if (c == '%') {
      if (written.size() - i < 3) return std::nullopt;
      const int high = hex_digit(written[i + 1]);
      const int low = hex_digit(written[i + 2]);
      if (high < 0 || low < 0) return std::nullopt;
      c = static_cast<char>((high & 15) << 4 | (low & 15));
      i += 2;
    }
    // Unescaped as it comes: what was decoded before is complete.
    if (c == '\'' && size > 0 && buffer[size - 1] == '\\') --size;
    if (size == buffer.size()) return std::nullopt;
    buffer[size++] = c;
  }
  return std::string_view(buffer.data(), size);
}

// UTF-8 without control characters: what consoles, logs and Prometheus can show.
bool is_printable(std::string_view text) noexcept {
  bool ascii = true;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F) return false;
    ascii &= byte < 0x80;
  }
  return ascii || is_utf8(text);
}

std::string route_text(std::string_view written) {
  Buffer buffer;
  const std::optional<std::string_view> decoded = decode(written, buffer);
  return decoded && is_printable(*decoded) ? std::string(*decoded) : std::string();
}

TraceId trace_of(std::string_view written) noexcept {
  // Its characters need no encoding; some encode all the same.
  Buffer buffer;
  const std::optional<std::string_view> decoded = decode(written, buffer);
  return decoded ? parse_traceparent(*decoded).value_or(TraceId()) : TraceId();
}

// The values that matter, as written; the last of each counts.
struct Found {
  std::string_view route, controller, action, traceparent;
};

// Adds what the inside of one comment says; nothing when any of it is not sqlcommenter's.
void read_inside(Found& found, std::string_view inside) noexcept {
  Found more = found;
  PairReader reader(inside);
  std::size_t count = 0;
  Pair pair;
  while (!reader.at_end()) {
    if (++count > kCommentKeysMax || !reader.next(pair)) return;
    if (pair.key == "route") {
      more.route = pair.value;
    } else if (pair.key == "traceparent") {
      more.traceparent = pair.value;
    } else if (pair.key == "controller") {
      more.controller = pair.value;
    } else if (pair.key == "action") {
      more.action = pair.value;
    }
  }
  found = more;
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
  // Backwards to the next beginning; an end on the way is that of another comment.
  for (std::size_t i = sql.size(); i >= 2; --i) {
    if (sql[i - 1] == '*' && sql[i - 2] == '/') return sql.substr(i);
    if (sql[i - 1] == '/' && sql[i - 2] == '*') return {};
  }
  return {};
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
  if (!found.traceparent.empty()) tags.trace = trace_of(found.traceparent);
  if (!found.route.empty()) tags.route = route_text(found.route);
  if (tags.route.empty() && !found.controller.empty()) {
    tags.route = route_text(found.controller);
    const std::string action = route_text(found.action);
    if (!tags.route.empty() && !action.empty()) (tags.route += '#') += action;
    if (tags.route.size() > kRouteBytesMax) tags.route.clear();
  }
  return tags;
}

}  // namespace sluice::trace
