#include "protocol/message_writer.h"

#include <algorithm>
#include <cstdint>

namespace sluice::protocol {
namespace {

// Most messages of a login are shorter: room for one at once, instead of growing byte by byte from nothing.
constexpr std::size_t kRoomBytes = 64;

Bytes& with_room(Bytes& out) {
  if (out.capacity() - out.size() < kRoomBytes)
    out.reserve(std::max(out.size() + kRoomBytes, 2 * out.capacity()));
  return out;
}

}  // namespace

MessageWriter::MessageWriter(Bytes& out, char type)
    : out_(with_room(out)), writer_(out), length_at_(out.size() + 1) {
  writer_.u8(static_cast<std::uint8_t>(type));
  writer_.u32(0);
}

MessageWriter::MessageWriter(Bytes& out) : out_(with_room(out)), writer_(out), length_at_(out.size()) {
  writer_.u32(0);
}

MessageWriter::~MessageWriter() {
  writer_.patch_u32(length_at_, static_cast<std::uint32_t>(out_.size() - length_at_));
}

void MessageWriter::string(std::string_view text) {
  writer_.cstring(text.substr(0, text.find('\0')));
}

}  // namespace sluice::protocol
