#include "protocol/protocol_error.h"

#include <array>
#include <string>

namespace sluice::protocol {
namespace {

struct ProtocolErrorRow {
  ProtocolErrc code;
  const char* severity;
  const char* sqlstate;
  const char* message;
  const char* hint;
};

constexpr std::array kRows{
    ProtocolErrorRow{ProtocolErrc::LengthTooSmall, "FATAL", "08P01", "invalid message length",
                     "A length counts its own four bytes, so it is at least 4."},
    ProtocolErrorRow{ProtocolErrc::MessageTooLong, "FATAL", "08P01", "message exceeds the size limit", ""},
    ProtocolErrorRow{ProtocolErrc::MalformedMessage, "FATAL", "08P01", "invalid message format", ""},
    ProtocolErrorRow{ProtocolErrc::UnexpectedMessage, "FATAL", "08P01", "message type not expected here", ""},
    ProtocolErrorRow{ProtocolErrc::DecoderDead, "FATAL", "08P01", "connection already failed", ""},
};

const ProtocolErrorRow* find(ProtocolErrc e) noexcept {
  for (const ProtocolErrorRow& row : kRows)
    if (row.code == e) return &row;
  return nullptr;
}

class ProtocolCategory final : public std::error_category {
 public:
  const char* name() const noexcept override { return "sluice.protocol"; }
  std::string message(int value) const override {
    const ProtocolErrorRow* row = find(static_cast<ProtocolErrc>(value));
    return row == nullptr ? "unknown protocol error" : row->message;
  }
};

const ProtocolCategory kProtocolCategory;

}  // namespace

std::error_code make_error_code(ProtocolErrc e) noexcept {
  return {static_cast<int>(e), kProtocolCategory};
}

ErrorFields error_fields(ProtocolErrc e) {
  const ProtocolErrorRow* row = find(e);
  if (row == nullptr) return {"FATAL", "XX000", "unknown protocol error", "", ""};
  return {row->severity, row->sqlstate, row->message, "", row->hint};
}

}  // namespace sluice::protocol
