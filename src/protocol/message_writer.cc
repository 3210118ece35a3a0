#include "protocol/message_writer.h"

#include <cstdint>

namespace sluice::protocol {

MessageWriter::MessageWriter(Bytes& out, char type) : out_(out), writer_(out), length_at_(out.size() + 1) {
  writer_.u8(static_cast<std::uint8_t>(type));
  writer_.u32(0);
}

MessageWriter::MessageWriter(Bytes& out) : out_(out), writer_(out), length_at_(out.size()) {
  writer_.u32(0);
}

MessageWriter::~MessageWriter() {
  writer_.patch_u32(length_at_, static_cast<std::uint32_t>(out_.size() - length_at_));
}

void MessageWriter::string(std::string_view text) {
  writer_.cstring(text.substr(0, text.find('\0')));
}

}  // namespace sluice::protocol
