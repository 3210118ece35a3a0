#include "sizes/fingerprint.h"

#include <bit>
#include <utility>

#include "sizes/sql_outline.h"

namespace sluice::sizes {
namespace {

// Each step is one rotation, one exclusive or and one multiplication, as in FxHash; the end mixes once more,
// since the low bits of products depend on low bits alone. The second factor and the shifts are SplitMix64's
// (Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014).
class Hash {
 public:
  void word_part(std::uint64_t piece) noexcept {
    mix(piece);
    mix(kMore);
  }
  void word(std::uint64_t piece, std::size_t) noexcept { mix(piece); }
  void name(std::string_view sql, std::size_t at, std::size_t end) noexcept {
    for (; at + sizeof(std::uint64_t) < end; at += sizeof(std::uint64_t))
      word_part(detail::eight_bytes(sql, at));
    mix(detail::eight_bytes(sql, at) & detail::kByteTables.first[end - at]);
  }
  void symbol(char c) noexcept { mix(kSymbol | static_cast<std::uint8_t>(c)); }
  void literal() noexcept { mix(kLiteral); }

  std::uint64_t value() const noexcept {
    if (hash_ == 0) return 1;
    std::uint64_t z = hash_;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
    z = (z ^ z >> 27) * 0x94D049BB133111EB;
    z ^= z >> 31;
    return z != 0 ? z : 1;
  }

 private:
  static constexpr std::uint64_t kSymbol = 0x100, kLiteral = 0x200,
                                 kMore = 0x300;  // none is a piece of a word

  void mix(std::uint64_t token) noexcept { hash_ = (std::rotl(hash_, 5) ^ token) * 0x9E3779B97F4A7C15; }

  std::uint64_t hash_ = 0;
};

class Text {
 public:
  explicit Text(std::size_t bytes_max) : bytes_max_(bytes_max) {}

  void word_part(std::uint64_t piece) {
    word(piece, sizeof(piece));
    within_word_ = true;
  }
  void word(std::uint64_t piece, std::size_t bytes) {
    begin_token();
    for (std::size_t i = 0; i < bytes; ++i)
      put(static_cast<char>(piece >> (8 * i) & 0xFF));
  }
  void name(std::string_view sql, std::size_t at, std::size_t end) {
    begin_token();
    for (const char c : sql.substr(at, end - at))
      put(c);
  }
  void symbol(char c) {
    begin_token();
    put(c);
  }
  void literal() {
    begin_token();
    put('?');
  }
  std::string take() { return std::move(text_); }

 private:
  void begin_token() {
    if (!std::exchange(within_word_, false) && !text_.empty()) put(' ');
  }
  void put(char c) {
    if (text_.size() < bytes_max_) text_.push_back(c);
  }

  std::size_t bytes_max_;
  bool within_word_ = false;
  std::string text_;
};

}  // namespace

std::uint64_t fingerprint(std::string_view sql, bool escapes) noexcept {
  Hash hash;
  detail::outline(sql, escapes, hash);
  return hash.value();
}

std::string outline(std::string_view sql, std::size_t bytes_max, bool escapes) {
  Text text(bytes_max);
  detail::outline(sql, escapes, text);
  return text.take();
}

}  // namespace sluice::sizes
