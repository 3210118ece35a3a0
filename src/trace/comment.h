#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sluice::trace {

// The trace-id of a traceparent (W3C "Trace Context", section "traceparent Header"). All zero is no id.
struct TraceId {
  std::uint64_t high = 0, low = 0;

  explicit operator bool() const noexcept { return (high | low) != 0; }
  friend bool operator==(const TraceId&, const TraceId&) = default;
};

// What a statement's comments say of the request that sent it. Either may be missing.
struct Tags {
  std::string route;  // "/feed", or "controller#action"; printable UTF-8 of at most kRouteBytesMax; "" = none
  TraceId trace;

  bool empty() const noexcept { return route.empty() && !trace; }
  friend bool operator==(const Tags&, const Tags&) = default;
};

inline constexpr std::size_t kRouteBytesMax = 128;
// A comment longer than this, or with more keys, is none of ours.
inline constexpr std::size_t kCommentBytesMax = 2048;
inline constexpr std::size_t kCommentKeysMax = 32;
// White space and semicolons that may stand before a comment in front and after one behind.
inline constexpr std::size_t kPaddingBytesMax = 32;

// Whether the text begins or ends with a comment. O(1): looks at no more than kPaddingBytesMax + 2 bytes of
// either end.
inline bool begins_with_comment(std::string_view sql) noexcept;
inline bool ends_with_comment(std::string_view sql) noexcept;

// Reads the sqlcommenter comments of a statement: one at its very beginning and one at its very end, before a
// final semicolon and white space. Where both name a thing, the one behind counts, which is sqlcommenter's.
// `front` and `back` are the statement's first and last bytes, up to kCommentBytesMax + kPaddingBytesMax of
// each, or both the whole of it; with less, longer comments are missed.
// Format: /*key='value',key='value'*/ and nothing else in it; white space around keys and values is allowed.
//         Values are percent-decoded, then \' becomes '. Keys: route; controller and action, which make up a
//         route where there is none; traceparent. Others are ignored, as is a value that is not what its key
//         asks for: a bad percent code, control characters, bad UTF-8, too long, an invalid traceparent.
// Source: sqlcommenter's specification, section "SQL commenter"; W3C, "Trace Context".
// Why no SQL is parsed: a statement that PostgreSQL accepts and that ends in */ ends in a comment, since a
//         literal would have to be closed behind it. That comment's own beginning is the last one in the
//         text, because the format has no room for another in between.
Tags read_comments(std::string_view front, std::string_view back);

// The same in two steps, for who has seen most routes before: first what is written between the quotes, views
// into the statement, the last of each key; then what it means.
struct WrittenTags {
  std::string_view route, controller, action, traceparent;
};
WrittenTags find_tags(std::string_view front, std::string_view back) noexcept;
// The inside of the comment at the very end of a statement whose last bytes these are; empty without one.
std::string_view comment_behind(std::string_view back) noexcept;
// The zero id for what is no valid traceparent.
TraceId read_trace(std::string_view written) noexcept;
// "" for what is no route. `action` is written only behind a controller.
std::string read_route(std::string_view route_or_controller, std::string_view action);

// nullopt when it is invalid. Version 00 has exactly four fields; later ones may have more.
inline constexpr std::size_t kTraceparentBytes = 55;  // 2 + 1 + 32 + 1 + 16 + 1 + 2
std::optional<TraceId> parse_traceparent(std::string_view text) noexcept;

namespace detail {
constexpr bool is_padding(char c) noexcept {
  return c == ' ' || (c >= '\t' && c <= '\r');  // \t \n \v \f \r
}
// The text without its padding on either side, at most kPaddingBytesMax of it.
inline std::string_view without_front_padding(std::string_view sql) noexcept {
  for (std::size_t i = 0; i < kPaddingBytesMax && !sql.empty() && is_padding(sql.front()); ++i)
    sql.remove_prefix(1);
  return sql;
}
inline std::string_view without_back_padding(std::string_view sql) noexcept {
  for (std::size_t i = 0;
       i < kPaddingBytesMax && !sql.empty() && (is_padding(sql.back()) || sql.back() == ';'); ++i)
    sql.remove_suffix(1);
  return sql;
}
}  // namespace detail

inline bool begins_with_comment(std::string_view sql) noexcept {
  return detail::without_front_padding(sql).starts_with("/*");
}
inline bool ends_with_comment(std::string_view sql) noexcept {
  return detail::without_back_padding(sql).ends_with("*/");
}

}  // namespace sluice::trace
