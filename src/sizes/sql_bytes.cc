#include "sizes/sql_bytes.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace sluice::sizes::detail {
namespace {

// A block in lower case to `lower`, and a bit for each byte that is no part of a word to `ends`.
#if defined(__SSE2__)
constexpr std::size_t kBlockBytes = 16;

[[gnu::always_inline]] inline void read_block(const char* block, char* lower, char* ends) noexcept {
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(block));
  const auto within = [](__m128i value, char first, char count) {
    const __m128i off = _mm_sub_epi8(value, _mm_set1_epi8(first));
    return _mm_cmpeq_epi8(_mm_min_epu8(off, _mm_set1_epi8(static_cast<char>(count - 1))), off);
  };
  const __m128i letters = within(_mm_or_si128(bytes, _mm_set1_epi8(0x20)), 'a', 26);
  const __m128i cases = _mm_and_si128(letters, _mm_set1_epi8(0x20));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(lower), _mm_or_si128(bytes, cases));
  const __m128i digits = within(bytes, '0', 10);
  const __m128i marks =
      _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('_')), _mm_cmpeq_epi8(bytes, _mm_set1_epi8('$')));
  // Bytes above 0x7F have their own bit 7.
  const __m128i all = _mm_or_si128(_mm_or_si128(letters, digits), _mm_or_si128(marks, bytes));
  const int not_words = ~_mm_movemask_epi8(all);
  ends[0] = static_cast<char>(not_words & 0xFF);
  ends[1] = static_cast<char>(not_words >> 8 & 0xFF);
}
#else
constexpr std::size_t kBlockBytes = 8;

[[gnu::always_inline]] inline void read_block(const char* block, char* lower, char* ends) noexcept {
  const std::uint64_t bytes = eight_bytes(std::string_view(block, kBlockBytes), 0);
  const std::uint64_t in_lower_case = lower_case(bytes);
  for (std::size_t i = 0; i < kBlockBytes; ++i)
    lower[i] = static_cast<char>(in_lower_case >> (8 * i) & 0xFF);
  const std::uint64_t high = ~word_bytes(bytes) & kHigh;
  ends[0] = static_cast<char>(((high >> 7) * 0x0102040810204080) >> 56);  // bit 7 of each byte, side by side
}
#endif

bool is_space(char c) noexcept {
  return is(kind_of(c), ByteKind::Space) || c == 0;
}

// Behind white space and comments to the end of a line, of which there is at least one newline; `at` where
// there is none.
std::size_t behind_newline(std::string_view sql, std::size_t at) noexcept {
  bool newline = false;
  std::size_t next = at;
  for (; next < sql.size(); ++next) {
    if (sql.substr(next, 2) == "--") next = std::min(sql.find_first_of("\n\r", next), sql.size());
    if (next == sql.size() || !is_space(sql[next])) break;
    newline = newline || sql[next] == '\n' || sql[next] == '\r';
  }
  return newline ? next : at;
}

}  // namespace

WordMap::WordMap(std::string_view text) noexcept {
  const std::size_t size = std::min(text.size(), kStatementBytesMax);
  std::size_t at = 0;
  for (; at + kBlockBytes <= size; at += kBlockBytes)
    read_block(text.data() + at, lower_.data() + at, ends_.data() + at / 8);
  std::array<char, kBlockBytes> last{};
  if (at < size) std::memcpy(last.data(), text.data() + at, size - at);
  read_block(last.data(), lower_.data() + at, ends_.data() + at / 8);
  // Behind it there is neither a word nor a letter.
  at += kBlockBytes;
  std::memset(lower_.data() + at, 0, sizeof(std::uint64_t));
  std::memset(ends_.data() + at / 8, 0xFF, sizeof(std::uint64_t));
}

std::size_t WordMap::behind_long_word(std::size_t at) const noexcept {
  std::uint64_t ends = 0;
  for (at = at / 8 * 8; ends == 0;) {
    at += 64;
    ends = eight_of(ends_.data() + at / 8);
  }
  return at + static_cast<std::size_t>(std::countr_zero(ends));
}

std::size_t behind_quoted(std::string_view sql, std::size_t at, bool escapes) noexcept {
  const char quote = sql[at];
  for (++at;;) {
    const std::size_t end = sql.find(quote, at);
    if (escapes) {
      // The last backslash in front of it may take the quote for its own.
      std::size_t slash = sql.find('\\', at);
      if (slash < end) {
        at = slash + 2;
        if (at > sql.size()) return sql.size();
        continue;
      }
    }
    if (end == std::string_view::npos) return sql.size();
    if (end + 1 == sql.size() || sql[end + 1] != quote) return end + 1;
    at = end + 2;  // doubled: the quote itself
  }
}

// Without escapes it does not matter where strings part: the pieces end where they would alone.
[[gnu::noinline]] std::size_t behind_string(std::string_view sql, std::size_t at, bool escapes) noexcept {
  at = behind_quoted(sql, at, escapes);
  if (!escapes) return at;
  for (;;) {
    const std::size_t next = behind_newline(sql, at);
    if (next == at || next >= sql.size() || sql[next] != '\'') return at;
    at = behind_quoted(sql, next, true);
  }
}

// Comments nest. Each of their ends has a slash, of which there are few.
std::size_t behind_comment(std::string_view sql, std::size_t at) noexcept {
  std::size_t depth = 1;
  for (at += 2;;) {
    const std::size_t slash = sql.find('/', at);
    if (slash == std::string_view::npos) return sql.size();
    if (slash > at && sql[slash - 1] == '*') {
      if (--depth == 0) return slash + 1;
    } else if (slash + 1 < sql.size() && sql[slash + 1] == '*') {
      ++depth;
      at = slash + 2;
      continue;
    }
    at = slash + 1;
  }
}

// Digits, letters (0xFF, 1e5, 1_000) and points; a sign behind an exponent.
std::size_t behind_number(std::string_view sql, const WordMap& words, std::size_t at) noexcept {
  const bool hexadecimal = sql.substr(at, 2) == "0x" || sql.substr(at, 2) == "0X";
  for (;;) {
    at = words.behind_word(at);
    if (at >= sql.size()) return sql.size();
    const char c = sql[at];
    if (c == ' ' || c == ',' || c == ')') return at;  // mostly
    const char before = sql[at - 1];
    const bool exponent = !hexadecimal && (before == 'e' || before == 'E');
    // Not the range of 1..10.
    const bool point = c == '.' && (at + 1 == sql.size() || sql[at + 1] != '.');
    if (!point && !(exponent && (c == '-' || c == '+'))) return at;
    ++at;
  }
}

std::size_t behind_dollar(std::string_view sql, const WordMap& words, std::size_t at) noexcept {
  std::size_t next = at + 1;
  if (next < sql.size() && kind_of(sql[next]) == ByteKind::Digit) return behind_number(sql, words, next);
  while (next < sql.size() && sql[next] != '$' && words.is_word(next))
    ++next;
  if (next == sql.size() || sql[next] != '$') return at;
  const std::string_view mark = sql.substr(at, next + 1 - at);
  const std::size_t close = sql.find(mark, next + 1);
  return close == std::string_view::npos ? sql.size() : close + mark.size();
}

}  // namespace sluice::sizes::detail
