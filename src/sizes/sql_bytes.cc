#include "sizes/sql_bytes.h"

#include <utility>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace sluice::sizes::detail {
namespace {

#if defined(__SSE2__)
constexpr std::size_t kBlockBytes = 16;

std::uint64_t word_bits(const char* block) noexcept {
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(block));
  const auto within = [](__m128i value, char first, char count) {
    const __m128i off = _mm_sub_epi8(value, _mm_set1_epi8(first));
    return _mm_cmpeq_epi8(_mm_min_epu8(off, _mm_set1_epi8(static_cast<char>(count - 1))), off);
  };
  const __m128i letters = within(_mm_or_si128(bytes, _mm_set1_epi8(0x20)), 'a', 26);
  const __m128i digits = within(bytes, '0', 10);
  const __m128i marks =
      _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('_')), _mm_cmpeq_epi8(bytes, _mm_set1_epi8('$')));
  // Bytes above 0x7F have their own bit 7.
  const __m128i all = _mm_or_si128(_mm_or_si128(letters, digits), _mm_or_si128(marks, bytes));
  return static_cast<std::uint64_t>(static_cast<unsigned>(_mm_movemask_epi8(all)));
}
#else
constexpr std::size_t kBlockBytes = 8;

std::uint64_t word_bits(const char* block) noexcept {
  const std::uint64_t high = word_bytes(eight_bytes(std::string_view(block, kBlockBytes), 0));
  return ((high >> 7) * 0x0102040810204080) >> 56;  // bit 7 of each byte, side by side
}
#endif

// Behind white space and comments to the end of a line, of which there is at least one newline; `at` where
// there is none.
std::size_t behind_newline(std::string_view sql, std::size_t at) noexcept {
  bool newline = false;
  std::size_t next = at;
  for (; next < sql.size(); ++next) {
    if (sql.substr(next, 2) == "--") next = std::min(sql.find_first_of("\n\r", next), sql.size());
    if (next == sql.size() || !is(kind_at(sql, next), ByteKind::Space)) break;
    newline = newline || sql[next] == '\n' || sql[next] == '\r';
  }
  return newline ? next : at;
}

}  // namespace

WordMap::WordMap(std::string_view text) noexcept {
  const std::size_t size = std::min(text.size(), kStatementBytesMax);
  std::uint64_t bits = 0;
  std::size_t at = 0;
  for (; at + kBlockBytes <= size; at += kBlockBytes) {
    bits |= word_bits(text.data() + at) << at % 64;
    if ((at + kBlockBytes) % 64 == 0) bits_[at / 64] = std::exchange(bits, 0);
  }
  if (at < size) {
    std::array<char, kBlockBytes> last{};
    std::memcpy(last.data(), text.data() + at, size - at);
    bits |= word_bits(last.data()) << at % 64;
  }
  bits_[at / 64] = bits;
  bits_[size / 64] = size / 64 == at / 64 ? bits : 0;
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

// Comments nest.
std::size_t behind_comment(std::string_view sql, std::size_t at) noexcept {
  std::size_t depth = 0;
  while (at + 1 < sql.size()) {
    if (sql[at] == '/' && sql[at + 1] == '*') {
      ++depth;
      at += 2;
    } else if (sql[at] == '*' && sql[at + 1] == '/') {
      at += 2;
      if (--depth == 0) return at;
    } else {
      ++at;
    }
  }
  return sql.size();
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
  if (next < sql.size() && kind_at(sql, next) == ByteKind::Digit) return behind_number(sql, words, next);
  while (next < sql.size() && sql[next] != '$' && words.is_word(next))
    ++next;
  if (next == sql.size() || sql[next] != '$') return at;
  const std::string_view mark = sql.substr(at, next + 1 - at);
  const std::size_t close = sql.find(mark, next + 1);
  return close == std::string_view::npos ? sql.size() : close + mark.size();
}

}  // namespace sluice::sizes::detail
