#include "trace/comment.h"

#include <array>
#include <bit>
#include <cstring>

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

constexpr std::array<bool, 256> key_characters() {
  std::array<bool, 256> is{};
  for (const char c : std::string_view("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.%"))
    is[static_cast<unsigned char>(c)] = true;
  return is;
}
constexpr std::array<bool, 256> kKeyCharacters = key_characters();

constexpr bool is_key_character(char c) noexcept {
  return kKeyCharacters[static_cast<unsigned char>(c)];
}

// Hexadecimal digits, eight at a time. Only lower case is valid in a traceparent.
class LowerHex {
 public:
  // The value of the eight digits at the front; with others it is not valid() from here on.
  std::uint64_t eight(const char* digits) noexcept {
    constexpr std::uint64_t kOnes = 0x0101010101010101;
    std::uint64_t text = 0;
    std::memcpy(&text, digits, sizeof text);
    // The first digit in the most significant byte.
    if constexpr (std::endian::native == std::endian::little) text = __builtin_bswap64(text);
    std::uint64_t value = (text & 0x0F * kOnes) + (text >> 6 & kOnes) * 9;  // "0".."9" is 0x30.., "a" 0x61
    // Written again it has to be the same: that finds what is no digit, and upper case.
    const std::uint64_t above_nine = (value + 6 * kOnes) >> 4 & kOnes;
    bad_ |= text ^ (value + '0' * kOnes + above_nine * ('a' - '0' - 10));
    bad_ |= value & 0xF0 * kOnes;  // "g" and beyond
    value = (value | value >> 4) & 0x00FF00FF00FF00FF;
    value = (value | value >> 8) & 0x0000FFFF0000FFFF;
    return (value | value >> 16) & 0x00000000FFFFFFFF;
  }
  std::uint64_t sixteen(const char* digits) noexcept { return eight(digits) << 32 | eight(digits + 8); }
  std::uint64_t two(const char* digits) noexcept {
    const std::array<char, 8> padded{'0', '0', '0', '0', '0', '0', digits[0], digits[1]};
    return eight(padded.data());
  }
  bool valid() const noexcept { return bad_ == 0; }

 private:
  std::uint64_t bad_ = 0;
};

struct Pair {
  std::string_view key, value;  // the value as written between its quotes
};

// Reads pairs off the inside of a comment.
class PairReader {
 public:
  explicit PairReader(std::string_view inside) noexcept
      : at_(inside.data()), end_(inside.data() + inside.size()) {
    at_ = behind_padding(at_);
  }

  bool at_end() const noexcept { return at_ == end_; }
  // False: the comment is not sqlcommenter's.
  bool next(Pair& pair) noexcept {
    const char* const key_end = behind_key(at_);
    pair.key = std::string_view(at_, static_cast<std::size_t>(key_end - at_));
    if (pair.key.empty()) return false;
    const char* const value = behind_equals_and_quote(key_end);
    if (value == nullptr) return false;
    const char* const quote = closing_quote(value);
    if (quote == nullptr) return false;
    pair.value = std::string_view(value, static_cast<std::size_t>(quote - value));
    at_ = behind_padding(quote + 1);
    if (at_ == end_) return true;
    if (*at_ != ',') return false;
    at_ = behind_padding(at_ + 1);
    return true;
  }

 private:
  const char* behind_key(const char* at) const noexcept {
    while (at != end_ && is_key_character(*at))
      ++at;
    return at;
  }
  const char* behind_padding(const char* at) const noexcept {
    while (at != end_ && detail::is_padding(*at))
      ++at;
    return at;
  }
  const char* behind_equals_and_quote(const char* at) const noexcept {
    at = behind_padding(at);
    if (at == end_ || *at != '=') return nullptr;
    at = behind_padding(at + 1);
    return at == end_ || *at != '\'' ? nullptr : at + 1;
  }
  // A quote behind an odd number of backslashes does not end the value.
  const char* closing_quote(const char* value) const noexcept {
    for (const char* from = value; from != end_;) {
      const void* const found = std::memchr(from, '\'', static_cast<std::size_t>(end_ - from));
      if (found == nullptr) break;
      const char* const quote = static_cast<const char*>(found);
      const char* begin = quote;
      while (begin != value && begin[-1] == '\\')
        --begin;
      if ((quote - begin) % 2 == 0) return quote;
      from = quote + 1;
    }
    return nullptr;
  }

  const char* at_;
  const char* const end_;
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

// Where the value of a key goes; null for a key of no interest.
std::string_view* place_of(WrittenTags& tags, std::string_view key) noexcept {
  switch (key.size()) {
    case 5:
      return std::memcmp(key.data(), "route", 5) == 0 ? &tags.route : nullptr;
    case 6:
      return std::memcmp(key.data(), "action", 6) == 0 ? &tags.action : nullptr;
    case 10:
      return std::memcmp(key.data(), "controller", 10) == 0 ? &tags.controller : nullptr;
    case 11:
      return std::memcmp(key.data(), "traceparent", 11) == 0 ? &tags.traceparent : nullptr;
    default:
      return nullptr;
  }
}

// Adds what the inside of one comment says; nothing when any of it is not sqlcommenter's.
void read_inside(WrittenTags& found, std::string_view inside) noexcept {
  WrittenTags more = found;
  PairReader reader(inside);
  std::size_t count = 0;
  Pair pair;
  while (!reader.at_end()) {
    if (++count > kCommentKeysMax || !reader.next(pair)) return;
    if (std::string_view* const value = place_of(more, pair.key)) *value = pair.value;
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

}  // namespace

std::optional<TraceId> parse_traceparent(std::string_view text) noexcept {
  if (text.size() < kTraceparentBytes || text[2] != '-' || text[35] != '-' || text[52] != '-')
    return std::nullopt;
  const char* const digits = text.data();
  LowerHex hex;
  const std::uint64_t version = hex.two(digits);
  const TraceId id{hex.sixteen(digits + 3), hex.sixteen(digits + 19)};
  const std::uint64_t span = hex.sixteen(digits + 36);
  hex.two(digits + 53);
  if (!hex.valid() || version == 0xFF || span == 0) return std::nullopt;
  if (text.size() > kTraceparentBytes && (version == 0 || text[kTraceparentBytes] != '-'))
    return std::nullopt;
  return id ? std::optional(id) : std::nullopt;
}

std::string_view comment_behind(std::string_view back) noexcept {
  std::string_view sql = detail::without_back_padding(back);
  if (!sql.ends_with("*/")) return {};
  sql.remove_suffix(2);
  if (sql.size() > kCommentBytesMax) sql.remove_prefix(sql.size() - kCommentBytesMax);
  // Backwards to the next beginning; an end on the way is that of another comment.
  for (std::size_t size = sql.size(); size > 0;) {
    const void* star = ::memrchr(sql.data(), '*', size);
    if (star == nullptr) return {};
    size = static_cast<std::size_t>(static_cast<const char*>(star) - sql.data());
    if (size + 1 < sql.size() && sql[size + 1] == '/') return {};
    if (size > 0 && sql[size - 1] == '/') return sql.substr(size + 1);
  }
  return {};
}

WrittenTags find_tags(std::string_view front, std::string_view back) noexcept {
  WrittenTags found;
  if (const std::string_view inside = front_comment(front); !inside.empty()) read_inside(found, inside);
  read_inside(found, comment_behind(back));
  return found;
}

TraceId read_trace(std::string_view written) noexcept {
  if (const std::optional<TraceId> trace = parse_traceparent(written)) return *trace;
  // Its characters need no encoding; some encode all the same.
  Buffer buffer;
  const std::optional<std::string_view> decoded = decode(written, buffer);
  return decoded ? parse_traceparent(*decoded).value_or(TraceId()) : TraceId();
}

std::string read_route(std::string_view route_or_controller, std::string_view action) {
  std::string route = route_text(route_or_controller);
  if (route.empty() || action.empty()) return route;
  const std::string behind = route_text(action);
  if (!behind.empty()) (route += '#') += behind;
  if (route.size() > kRouteBytesMax) route.clear();
  return route;
}

Tags read_comments(std::string_view front, std::string_view back) {
  const WrittenTags written = find_tags(front, back);
  Tags tags;
  tags.trace = read_trace(written.traceparent);
  tags.route = read_route(written.route, {});
  if (tags.route.empty()) tags.route = read_route(written.controller, written.action);
  return tags;
}

}  // namespace sluice::trace
