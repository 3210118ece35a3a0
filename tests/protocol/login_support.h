#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "protocol/backend_messages.h"
#include "protocol/error_response.h"

// What the tests of logins share: typed messages put together and taken apart.
namespace sluice::protocol::testing {

inline Bytes bytes_of(std::string_view text) {
  return Bytes(as_bytes(text).begin(), as_bytes(text).end());
}

inline const Bytes kMockSecret(32, std::byte{9});
inline const Bytes kHash(32, std::byte{7});  // of a certificate

// One typed message.
inline Bytes message(char type, std::string_view body) {
  Bytes bytes;
  append_message(bytes, type, as_bytes(body));
  return bytes;
}

struct SentMessage {
  char type;
  std::string body;
};

// Whole typed messages; stops at the first piece that is none.
inline std::vector<SentMessage> messages_of(ByteView bytes) {
  std::vector<SentMessage> messages;
  ByteReader in(bytes);
  while (true) {
    const auto type = in.u8();
    const auto length = in.u32();
    if (!type || !length || *length < 4) return messages;
    const auto body = in.take(*length - 4);
    if (!body) return messages;
    messages.push_back({static_cast<char>(*type), std::string(as_text(*body))});
  }
}

inline std::string types_of(ByteView bytes) {
  std::string types;
  for (const SentMessage& message : messages_of(bytes))
    types.push_back(message.type);
  return types;
}

// The last message, which must be an ErrorResponse; empty fields otherwise.
inline ErrorFields error_of(ByteView bytes) {
  const auto messages = messages_of(bytes);
  if (messages.empty() || messages.back().type != 'E') return {};
  return parse_error_fields(as_bytes(messages.back().body));
}

}  // namespace sluice::protocol::testing
