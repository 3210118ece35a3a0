#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/bytes.h"

namespace sluice::recording {

// Whole numbers in as few bytes as they need: seven bits a byte, the lowest first, the highest bit set on all
// but the last (LEB128). At most ten bytes; a reader takes the shortest form alone.
void put_varint(Bytes& out, std::uint64_t value);
inline constexpr std::size_t kVarintBytesMax = 10;
// The same where there is room for the longest; gives back where it ends.
inline std::byte* put_varint(std::byte* out, std::uint64_t value) noexcept {
  for (; value >= 0x80; value >>= 7)
    *out++ = static_cast<std::byte>((value & 0x7F) | 0x80);
  *out++ = static_cast<std::byte>(value);
  return out;
}
// Signed numbers near 0 in few bytes: 0, -1, 1, -2, ... as 0, 1, 2, 3, ...
void put_zigzag(Bytes& out, std::int64_t value);
inline std::uint64_t zigzag_of(std::int64_t value) noexcept {
  return static_cast<std::uint64_t>(value) << 1 ^ (value < 0 ? ~std::uint64_t{0} : 0);
}
void put_text(Bytes& out, std::string_view text);  // its length, then its bytes

// Little-endian, of the width of the type.
template <class T>
void put_fixed(Bytes& out, T value) {
  for (std::size_t i = 0; i < sizeof(T); ++i)
    out.push_back(static_cast<std::byte>(value >> (8 * i) & 0xFF));
}

// Reads them off the front of bytes it does not own; past the end, and of what is no such number, it gives
// nullopt, and must not be used further.
class VarintReader {
 public:
  explicit VarintReader(ByteView bytes) noexcept : rest_(bytes) {}

  std::size_t remaining() const noexcept { return rest_.size(); }
  std::optional<std::uint64_t> varint() noexcept;
  std::optional<std::int64_t> zigzag() noexcept;
  std::optional<std::string_view> text(std::size_t bytes_max) noexcept;  // lives as long as the bytes
  template <class T>
  std::optional<T> fixed() noexcept {
    if (rest_.size() < sizeof(T)) return std::nullopt;
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < sizeof(T); ++i)
      value |= std::to_integer<std::uint64_t>(rest_[i]) << (8 * i);
    rest_ = rest_.subspan(sizeof(T));
    return static_cast<T>(value);
  }

 private:
  ByteView rest_;
};

}  // namespace sluice::recording
