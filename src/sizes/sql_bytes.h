#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

// The bytes of SQL: where words, literals and comments end.
namespace sluice::sizes {

// Only so much of a statement is looked at.
inline constexpr std::size_t kStatementBytesMax = 4096;

namespace detail {

// What a byte may begin in SQL outside of quotes. A bit each: is() tests it, since compilers make a jump by a
// table of a row of comparisons, and that is foreseen worse.
enum class ByteKind : std::uint16_t {
  Space = 1,
  Word = 2,
  Digit = 4,
  Quote = 8,
  NameQuote = 16,
  Dollar = 32,
  Minus = 64,
  Slash = 128,
  Symbol = 256,
  Zero = 512,  // white space, or the end of the text
};
inline bool is(ByteKind kind, ByteKind one) noexcept {
  return (static_cast<unsigned>(kind) & static_cast<unsigned>(one)) != 0;
}

// In one place, so that one register finds both: the walk has none to spare.
struct ByteTables {
  std::array<ByteKind, 256> kinds{};
  std::array<std::uint64_t, 9> first{};  // so many of the eight bytes of a number, from the lowest
};
inline constexpr ByteTables kByteTables = [] {
  ByteTables tables;
  auto& kinds = tables.kinds;
  for (std::size_t c = 0; c < kinds.size(); ++c) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c >= 0x80;
    kinds[c] = letter ? ByteKind::Word : c >= '0' && c <= '9' ? ByteKind::Digit : ByteKind::Symbol;
  }
  for (const char c : {' ', '\t', '\n', '\r', '\f', '\v'})
    kinds[static_cast<unsigned char>(c)] = ByteKind::Space;
  kinds[0] = ByteKind::Zero;
  kinds['\''] = ByteKind::Quote;
  kinds['"'] = ByteKind::NameQuote;
  kinds['$'] = ByteKind::Dollar;
  kinds['-'] = ByteKind::Minus;
  kinds['/'] = ByteKind::Slash;
  for (std::size_t bytes = 1; bytes < tables.first.size(); ++bytes)
    tables.first[bytes] = ~std::uint64_t{0} >> (64 - 8 * bytes);
  return tables;
}();

inline ByteKind kind_of(char byte) noexcept {
  return kByteTables.kinds[static_cast<unsigned char>(byte)];
}

// Of eight bytes, in the bytes of one number, bit 7 where they are so. No sum passes from one byte to the
// next, since bit 7 of each is taken out before. (Mycroft's way of finding bytes, as in Warren, "Hacker's
// Delight", 2nd ed., section 6-1.)
inline constexpr std::uint64_t kOnes = 0x0101010101010101, kHigh = 0x80 * kOnes;
inline constexpr std::uint64_t at_least(std::uint64_t low, unsigned least) noexcept {
  return low + (0x80 - least) * kOnes;
}
inline constexpr std::uint64_t letters(std::uint64_t eight) noexcept {
  const std::uint64_t lower = (eight & ~kHigh) | 0x20 * kOnes;
  return at_least(lower, 'a') & ~at_least(lower, 'z' + 1) & ~eight & kHigh;
}
// Letters, digits, _, $ and all bytes above 0x7F.
inline constexpr std::uint64_t word_bytes(std::uint64_t eight) noexcept {
  const std::uint64_t low = eight & ~kHigh;
  const std::uint64_t digits = at_least(low, '0') & ~at_least(low, '9' + 1);
  const std::uint64_t underscores = ~((low ^ '_' * kOnes) + 0x7F * kOnes);
  const std::uint64_t dollars = ~((low ^ '$' * kOnes) + 0x7F * kOnes);
  return (letters(eight) | digits | underscores | dollars | eight) & kHigh;
}
inline constexpr std::uint64_t lower_case(std::uint64_t eight) noexcept {
  return eight | letters(eight) >> 2;
}

// The first in the lowest byte, whatever the machine's order; 0 behind the end of the text.
inline std::uint64_t eight_bytes(std::string_view text, std::size_t at) noexcept {
  std::uint64_t eight = 0;
  if constexpr (std::endian::native == std::endian::little) {
    const std::size_t last = text.size() - sizeof(eight);
    if (text.size() >= sizeof(eight)) {
      std::memcpy(&eight, text.data() + std::min(at, last), sizeof(eight));
      return at <= last ? eight : eight >> (8 * (at - last));
    }
  }
  const std::size_t end = std::min(text.size(), at + sizeof(eight));
  for (std::size_t i = end; i-- > at;)
    eight = eight << 8 | static_cast<unsigned char>(text[i]);
  return eight;
}

// Where words end, a bit for each byte of a text that is no part of one: so an end is found without looking
// at what is before it. And the text in lower case, with zeros behind its end, so that nobody has to ask
// where that is.
class WordMap {
 public:
  explicit WordMap(std::string_view text) noexcept;

  // `at`: up to the end of the text.
  char lower(std::size_t at) const noexcept { return lower_[at]; }
  std::uint64_t eight_lower(std::size_t at) const noexcept { return eight_of(lower_.data() + at); }
  // Behind the quote that ends what one at `at` begins, where it is among the next eight bytes and not
  // doubled; else `at`.
  std::size_t behind_near_quote(std::size_t at) const noexcept {
    const std::uint64_t off = eight_lower(at + 1) ^ kOnes * static_cast<unsigned char>(lower_[at]);
    const std::uint64_t equal = (off - kOnes) & ~off & kHigh;  // the lowest is right
    if (equal == 0) return at;
    const std::size_t behind = at + 2 + static_cast<std::size_t>(std::countr_zero(equal)) / 8;
    return lower_[behind] == lower_[at] ? at : behind;
  }
  bool is_word(std::size_t at) const noexcept {
    return (static_cast<unsigned char>(ends_[at / 8]) >> at % 8 & 1) == 0;
  }
  // The first byte from `at` on that is no part of a word, or the end of the text.
  std::size_t behind_word(std::size_t at) const noexcept {
    const std::uint64_t ends = eight_of(ends_.data() + at / 8) >> at % 8;
    return ends != 0 ? at + static_cast<std::size_t>(std::countr_zero(ends)) : behind_long_word(at);
  }

 private:
  static constexpr std::size_t kBehind = 32;  // the rest of the last block, and another

  std::size_t behind_long_word(std::size_t at) const noexcept;  // of 57 bytes or more
  static std::uint64_t eight_of(const char* bytes) noexcept {
    return eight_bytes(std::string_view(bytes, sizeof(std::uint64_t)), 0);
  }

  // Both as far as the text goes, and a little further.
  std::array<char, (kStatementBytesMax + kBehind) / 8 + sizeof(std::uint64_t)> ends_;
  std::array<char, kStatementBytesMax + kBehind> lower_;
};

// Behind a literal in quotes whose first quote stands at `at`; the end of the text if it does not end.
std::size_t behind_quoted(std::string_view sql, std::size_t at, bool escapes) noexcept;
// The same with what goes on in the next line: 'a'<newline>'b' is one string, with the first one's escapes.
std::size_t behind_string(std::string_view sql, std::size_t at, bool escapes) noexcept;
std::size_t behind_comment(std::string_view sql, std::size_t at) noexcept;
// Of a number, or of a parameter; `at`: its first digit.
std::size_t behind_number(std::string_view sql, const WordMap& words, std::size_t at) noexcept;
// Of $1 or $tag$...$tag$ in no word; `at` itself where the dollar sign begins neither.
std::size_t behind_dollar(std::string_view sql, const WordMap& words, std::size_t at) noexcept;

}  // namespace detail
}  // namespace sluice::sizes
