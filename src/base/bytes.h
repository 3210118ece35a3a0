#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace sluice {

using Bytes = std::vector<std::byte>;
using ByteView = std::span<const std::byte>;

inline ByteView as_bytes(std::string_view text) noexcept {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}
inline std::string_view as_text(ByteView bytes) noexcept {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
inline void append(Bytes& to, ByteView more) {
  to.insert(to.end(), more.begin(), more.end());
}

// Reads big-endian integers and strings off the front of a view it does not own.
// Every read is checked: past the end it gives nullopt and leaves the position as it was.
class ByteReader {
 public:
  explicit ByteReader(ByteView bytes) noexcept : rest_(bytes) {}

  std::size_t remaining() const noexcept { return rest_.size(); }
  ByteView rest() const noexcept { return rest_; }

  std::optional<std::uint8_t> u8() noexcept { return integer<std::uint8_t>(); }
  std::optional<std::uint16_t> u16() noexcept { return integer<std::uint16_t>(); }
  std::optional<std::uint32_t> u32() noexcept { return integer<std::uint32_t>(); }
  std::optional<std::int16_t> i16() noexcept { return integer<std::int16_t>(); }
  std::optional<std::int32_t> i32() noexcept { return integer<std::int32_t>(); }

  std::optional<ByteView> take(std::size_t count) noexcept {
    if (count > rest_.size()) return std::nullopt;
    const ByteView taken = rest_.first(count);
    rest_ = rest_.subspan(count);
    return taken;
  }

  // A zero-terminated string without its terminator; nullopt when no zero byte is left.
  std::optional<std::string_view> cstring() noexcept {
    if (rest_.empty()) return std::nullopt;
    const void* zero = std::memchr(rest_.data(), 0, rest_.size());
    if (zero == nullptr) return std::nullopt;
    const auto length = static_cast<std::size_t>(static_cast<const std::byte*>(zero) - rest_.data());
    const std::string_view text = as_text(rest_.first(length));
    rest_ = rest_.subspan(length + 1);
    return text;
  }

 private:
  template <class T>
  std::optional<T> integer() noexcept {
    if (rest_.size() < sizeof(T)) return std::nullopt;
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < sizeof(T); ++i)
      value = value << 8 | std::to_integer<std::uint32_t>(rest_[i]);
    rest_ = rest_.subspan(sizeof(T));
    return static_cast<T>(value);
  }

  ByteView rest_;
};

// Appends big-endian integers and strings to bytes it does not own.
class ByteWriter {
 public:
  explicit ByteWriter(Bytes& out) noexcept : out_(out) {}

  void u8(std::uint8_t v) { integer(v); }
  void u16(std::uint16_t v) { integer(v); }
  void u32(std::uint32_t v) { integer(v); }
  void i32(std::int32_t v) { integer(static_cast<std::uint32_t>(v)); }
  void bytes(ByteView v) { append(out_, v); }
  void text(std::string_view v) { append(out_, as_bytes(v)); }
  void cstring(std::string_view v) {
    text(v);
    u8(0);
  }
  // Overwrites four bytes written before, for lengths known only afterwards.
  void patch_u32(std::size_t at, std::uint32_t v) {
    for (std::size_t i = 0; i < 4; ++i)
      out_[at + i] = static_cast<std::byte>(v >> (24 - 8 * i));
  }

 private:
  template <class T>
  void integer(T v) {
    for (std::size_t i = sizeof(T); i-- > 0;)
      out_.push_back(static_cast<std::byte>(v >> (8 * i)));
  }

  Bytes& out_;
};

}  // namespace sluice
