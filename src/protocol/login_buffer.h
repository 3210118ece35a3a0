#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/bytes.h"

namespace sluice::protocol {

// The bytes of a login that have arrived and are not used yet: untyped packets and single bytes at first,
// typed messages afterwards, and what a client sends behind its login. Shape:  holds what was committed and
// not consumed; grows by what prepare() asks for, never by a length that a peer
//         declares. Views die at the next prepare() or consume().
class LoginBuffer {
 public:
  std::span<std::byte> prepare(std::size_t size);
  // `count` must not exceed the last prepare().
  void commit(std::size_t count);
  ByteView view() const noexcept { return ByteView(bytes_).subspan(begin_, end_ - begin_); }
  void consume(std::size_t count);

  struct Message {
    char type;
    ByteView body;
  };
  enum class Head { Incomplete, TooShort, TooLong, Complete };
  // Looks at the first typed message without consuming it: Complete sets `message`. TooShort: a length
  // below 4. TooLong: a body of more than `body_bytes_max`, told as soon as the header is there.
  Head peek(Message& message, std::size_t body_bytes_max) const noexcept;
  void consume(const Message& message) { consume(message.body.size() + 5); }

 private:
  // bytes_[begin_, end_) is the content, bytes_[end_, size) lent room. begin_ <= end_ <= bytes_.size().
  Bytes bytes_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

}  // namespace sluice::protocol
