#include "protocol/login_buffer.h"

#include <algorithm>

#include "base/assert.h"

namespace sluice::protocol {

std::span<std::byte> LoginBuffer::prepare(std::size_t size) {
  if (begin_ > 0) {
    std::copy(bytes_.begin() + static_cast<std::ptrdiff_t>(begin_),
              bytes_.begin() + static_cast<std::ptrdiff_t>(end_), bytes_.begin());
    end_ -= begin_;
    begin_ = 0;
  }
  bytes_.resize(end_ + size);
  return std::span(bytes_).subspan(end_, size);
}

void LoginBuffer::commit(std::size_t count) {
  SLUICE_ASSERT(count <= bytes_.size() - end_);
  end_ += count;
}

void LoginBuffer::consume(std::size_t count) {
  SLUICE_ASSERT(count <= end_ - begin_);
  begin_ += count;
}

LoginBuffer::Head LoginBuffer::peek(Message& message, std::size_t body_bytes_max) const noexcept {
  ByteReader in(view());
  const auto type = in.u8();
  const auto length = in.u32();
  if (!type || !length) return Head::Incomplete;
  message.type = static_cast<char>(*type);
  if (*length < 4) return Head::TooShort;
  if (*length - 4 > body_bytes_max) return Head::TooLong;
  const auto body = in.take(*length - 4);
  if (!body) return Head::Incomplete;
  message.body = *body;
  return Head::Complete;
}

}  // namespace sluice::protocol
