#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace sluice {

// Some of the 256 bytes. A bit each, so that all of it is half a cache line, and asking is a load and a
// shift.
class ByteSet {
 public:
  constexpr explicit ByteSet(std::string_view bytes) noexcept {
    for (const char byte : bytes)
      words_[static_cast<unsigned char>(byte) / 64] |= bit(byte);
  }
  constexpr bool has(char byte) const noexcept {
    return (words_[static_cast<unsigned char>(byte) / 64] & bit(byte)) != 0;
  }

 private:
  static constexpr std::uint64_t bit(char byte) noexcept {
    return std::uint64_t{1} << (static_cast<unsigned char>(byte) % 64);
  }
  std::array<std::uint64_t, 4> words_{};
};

}  // namespace sluice
