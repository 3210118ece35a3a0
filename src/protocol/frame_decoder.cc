#include "protocol/frame_decoder.h"

#include <algorithm>

#include "base/assert.h"
#include "protocol/protocol_error.h"

namespace sluice::protocol {
namespace {

constexpr std::size_t kHeaderBytes = 5;  // type byte and length
constexpr std::uint32_t kLengthBytes = 4;

}  // namespace

FrameDecoder::FrameDecoder(std::uint32_t body_bytes_max) : body_bytes_max_(body_bytes_max) {}

std::span<std::byte> FrameDecoder::prepare(std::size_t bytes) {
  if (consumed_ > 0) {
    std::copy(buffer_.begin() + static_cast<std::ptrdiff_t>(consumed_),
              buffer_.begin() + static_cast<std::ptrdiff_t>(filled_), buffer_.begin());
    filled_ -= consumed_;
    consumed_ = 0;
  }
  buffer_.resize(filled_ + bytes);
  return std::span(buffer_).subspan(filled_);
}

void FrameDecoder::commit(std::size_t bytes) {
  SLUICE_ASSERT(bytes <= buffer_.size() - filled_);
  filled_ += bytes;
}

Result<std::optional<Frame>> FrameDecoder::next() {
  if (dead_) return ProtocolErrc::DecoderDead;
  ByteReader in(unread());
  const auto type = in.u8();
  const auto length = in.u32();
  if (!type || !length) return std::optional<Frame>();
  if (*length < kLengthBytes) {
    dead_ = true;
    return ProtocolErrc::LengthTooSmall;
  }
  if (*length - kLengthBytes > body_bytes_max_) {
    dead_ = true;
    return ProtocolErrc::MessageTooLong;
  }
  const auto body = in.take(*length - kLengthBytes);
  if (!body) return std::optional<Frame>();
  consumed_ += kHeaderBytes + body->size();
  return std::optional<Frame>(Frame{static_cast<char>(*type), *body});
}

ByteView FrameDecoder::unread() const noexcept {
  return ByteView(buffer_).subspan(consumed_, filled_ - consumed_);
}

bool FrameDecoder::check_invariant() const noexcept {
  return consumed_ <= filled_ && filled_ <= buffer_.size();
}

}  // namespace sluice::protocol
