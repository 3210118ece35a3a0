#pragma once

#include <string_view>

#include "base/bytes.h"

namespace sluice::protocol {

// Writes one message: the type byte and a length that is filled in when the writer goes out of scope.
// Shape:  the body is what is written between construction and destruction, below 2 GiB.
// Lifetime: `out` outlives the writer, and nobody else appends to it meanwhile.
class MessageWriter {
 public:
  MessageWriter(Bytes& out, char type);
  // A message without a type byte: StartupMessage, SSLRequest, CancelRequest.
  explicit MessageWriter(Bytes& out);
  ~MessageWriter();
  MessageWriter(const MessageWriter&) = delete;
  MessageWriter& operator=(const MessageWriter&) = delete;

  ByteWriter& body() noexcept { return writer_; }
  // A zero-terminated string; ends at the first zero byte of `text`, so that no value can add a field.
  void string(std::string_view text);

 private:
  Bytes& out_;
  ByteWriter writer_;
  std::size_t length_at_;
};

}  // namespace sluice::protocol
