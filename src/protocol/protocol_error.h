#pragma once

#include <system_error>
#include <type_traits>

#include "protocol/error_response.h"

namespace sluice::protocol {

// What a peer can do wrong on the wire. Each has one row in the table of protocol_error.cc.
enum class ProtocolErrc {
  LengthTooSmall = 1,
  MessageTooLong,
  MalformedMessage,
  UnexpectedMessage,
  DecoderDead,
};

std::error_code make_error_code(ProtocolErrc e) noexcept;

// What a client is told about it: severity FATAL, an SQLSTATE as PostgreSQL would choose, message, hint.
ErrorFields error_fields(ProtocolErrc e);

}  // namespace sluice::protocol

template <>
struct std::is_error_code_enum<sluice::protocol::ProtocolErrc> : std::true_type {};
