#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "base/bytes.h"

namespace sluice::protocol {

// Finds the messages in a byte stream that arrives in arbitrary pieces, without keeping any of it.
// Use:    while at a boundary call take_header(); while in a body call take_body(); both eat from the front.
// Errors: none of its own. A length outside [4, kLengthMax] leaves length_valid() false after take_header();
//         where the next message begins is then unknown, and the walker must not be used any more.
// Cost:   O(1) per header and per body piece.
class HeaderWalker {
 public:
  // PostgreSQL allocates a message whole, so none reaches 1 GiB ("invalid message length" above that).
  static constexpr std::uint32_t kLengthMax = 0x3FFFFFFF;
  static constexpr std::size_t kHeaderBytes = 5;

  // Between two messages: no part of a header or body is pending.
  bool at_boundary() const noexcept { return header_bytes_ == 0 && body_left_ == 0; }
  bool in_body() const noexcept { return body_left_ != 0; }
  char type() const noexcept { return static_cast<char>(type_); }
  // Of the body that take_header() announced; valid until the body is taken.
  std::uint32_t body_left() const noexcept { return body_left_; }
  bool length_valid() const noexcept { return length_valid_; }
  // Of the last header completed, until the next one begins: the whole body's size, and the header as it
  // came.
  std::uint32_t body_bytes() const noexcept { return length_valid_ ? length_ - 4 : 0; }
  std::array<std::byte, kHeaderBytes> header() const noexcept {
    const auto byte = [](std::uint32_t value) { return static_cast<std::byte>(value & 0xFF); };
    return {byte(type_), byte(length_ >> 24), byte(length_ >> 16), byte(length_ >> 8), byte(length_)};
  }

  // True when a header was completed; false when `bytes` ran out before. Only while not in_body().
  bool take_header(ByteView& bytes) noexcept {
    if (header_bytes_ == 0 && bytes.size() >= kHeaderBytes) [[likely]] {
      type_ = std::to_integer<std::uint8_t>(bytes[0]);
      length_ = std::to_integer<std::uint32_t>(bytes[1]) << 24 |
                std::to_integer<std::uint32_t>(bytes[2]) << 16 |
                std::to_integer<std::uint32_t>(bytes[3]) << 8 | std::to_integer<std::uint32_t>(bytes[4]);
      bytes = bytes.subspan(kHeaderBytes);
    } else if (!collect_header(bytes)) {
      return false;
    }
    length_valid_ = length_ >= 4 && length_ <= kLengthMax;
    body_left_ = length_valid_ ? length_ - 4 : 0;
    return true;
  }

  // The next piece of the body, at most the rest of it.
  ByteView take_body(ByteView& bytes) noexcept {
    const std::size_t count = std::min<std::size_t>(body_left_, bytes.size());
    const ByteView piece = bytes.first(count);
    bytes = bytes.subspan(count);
    body_left_ -= static_cast<std::uint32_t>(count);
    return piece;
  }

  // A header is never complete and pending at once, and a body has no pending header.
  bool check_invariant() const noexcept {
    return header_bytes_ < kHeaderBytes && (body_left_ == 0 || header_bytes_ == 0) &&
           body_left_ <= kLengthMax - 4 && body_left_ <= body_bytes();
  }

 private:
  bool collect_header(ByteView& bytes) noexcept {
    while (!bytes.empty()) {
      const auto byte = std::to_integer<std::uint8_t>(bytes.front());
      bytes = bytes.subspan(1);
      if (header_bytes_ == 0) {
        type_ = byte;
        length_ = 0;
      } else {
        length_ = length_ << 8 | byte;
      }
      if (++header_bytes_ == kHeaderBytes) {
        header_bytes_ = 0;
        return true;
      }
    }
    return false;
  }

  std::uint32_t body_left_ = 0;
  std::uint32_t length_ = 0;
  std::uint8_t type_ = 0;
  std::uint8_t header_bytes_ = 0;  // of an incomplete header
  bool length_valid_ = true;
};

}  // namespace sluice::protocol
