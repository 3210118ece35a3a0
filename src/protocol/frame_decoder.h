#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/bytes.h"
#include "base/result.h"

namespace sluice::protocol {

// One whole message behind the start-up phase. `body` excludes type byte and length.
struct Frame {
  char type;
  ByteView body;
};

// Collects whole small messages: logins, the console, control traffic. Relayed sessions never pass through
// it. Shape:  a body holds at most body_bytes_max bytes; what is buffered is bounded by 5 + body_bytes_max +
// the
//         largest piece prepared. Nothing is allocated by a declared length.
// Errors: LengthTooSmall, MessageTooLong; after an error the decoder is dead: every next() gives DecoderDead.
// Lifetime: a Frame's body and unread() die at the next prepare(). Used by one thread.
class FrameDecoder {
 public:
  explicit FrameDecoder(std::uint32_t body_bytes_max);

  // Room for exactly `bytes` bytes, to be read into. A second call without commit() replaces the first.
  std::span<std::byte> prepare(std::size_t bytes);
  // `bytes` were read into the room, at most its size.
  void commit(std::size_t bytes);

  // The next whole message; nullopt when more bytes are needed.
  Result<std::optional<Frame>> next();

  // What was committed and not yet given out: bytes that belong to whatever follows.
  ByteView unread() const noexcept;

  // consumed_ <= filled_ <= buffer_.size(). For tests and fuzzing.
  bool check_invariant() const noexcept;

 private:
  std::uint32_t body_bytes_max_;
  Bytes buffer_;  // [0, consumed_) given out, [consumed_, filled_) committed, the rest is room
  std::size_t consumed_ = 0;
  std::size_t filled_ = 0;
  bool dead_ = false;
};

// Bytes that are at hand already, for a FrameDecoder or a machine that is read into like one.
template <class Reader>
void feed(Reader& reader, ByteView bytes) {
  const std::span<std::byte> room = reader.prepare(bytes.size());
  std::copy(bytes.begin(), bytes.end(), room.begin());
  reader.commit(bytes.size());
}

}  // namespace sluice::protocol
