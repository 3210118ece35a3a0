#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "base/bytes.h"
#include "protocol/header_walker.h"

namespace sluice::pooling {

// Where one direction's stream stands, as protocol::HeaderWalker, and the header itself, which has to be sent
// on when its message came in pieces.
class MessageCursor {
 public:
  static constexpr std::size_t kHeaderBytes = protocol::HeaderWalker::kHeaderBytes;

  bool at_boundary() const noexcept { return filled_ == 0 && body_left_ == 0; }
  bool in_body() const noexcept { return body_left_ != 0; }

  // True when a header was completed. Only while not in_body().
  bool take_header(ByteView& bytes) noexcept {
    const std::size_t count = std::min(kHeaderBytes - filled_, bytes.size());
    std::copy_n(bytes.begin(), count, header_.begin() + filled_);
    bytes = bytes.subspan(count);
    filled_ = static_cast<std::uint8_t>(filled_ + count);
    if (filled_ < kHeaderBytes) return false;
    filled_ = 0;
    const std::uint32_t length =
        std::to_integer<std::uint32_t>(header_[1]) << 24 | std::to_integer<std::uint32_t>(header_[2]) << 16 |
        std::to_integer<std::uint32_t>(header_[3]) << 8 | std::to_integer<std::uint32_t>(header_[4]);
    length_valid_ = length >= 4 && length <= protocol::HeaderWalker::kLengthMax;
    body_bytes_ = body_left_ = length_valid_ ? length - 4 : 0;
    return true;
  }
  ByteView take_body(ByteView& bytes) noexcept {
    const std::size_t count = std::min<std::size_t>(body_left_, bytes.size());
    const ByteView piece = bytes.first(count);
    bytes = bytes.subspan(count);
    body_left_ -= static_cast<std::uint32_t>(count);
    return piece;
  }

  // Of the last header completed, until the next one begins.
  char type() const noexcept { return std::to_integer<char>(header_[0]); }
  bool length_valid() const noexcept { return length_valid_; }
  std::uint32_t body_bytes() const noexcept { return body_bytes_; }
  ByteView header() const noexcept { return header_; }

  bool check_invariant() const noexcept {
    return filled_ < kHeaderBytes && body_left_ <= body_bytes_ && (filled_ == 0 || body_left_ == 0);
  }

 private:
  std::array<std::byte, kHeaderBytes> header_{};
  std::uint8_t filled_ = 0;  // of an incomplete header
  bool length_valid_ = true;
  std::uint32_t body_bytes_ = 0;
  std::uint32_t body_left_ = 0;
};

}  // namespace sluice::pooling
