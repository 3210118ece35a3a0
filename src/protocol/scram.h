#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <system_error>
#include <type_traits>

#include "protocol/error_response.h"

namespace sluice::protocol {

// SCRAM-SHA-256 and SCRAM-SHA-256-PLUS, what both sides share.
// Source: RFC 5802 and RFC 7677 (messages, keys: names as there), RFC 5929 section 4 (tls-server-end-point);
// PostgreSQL manual, "SASL Authentication".

inline constexpr std::string_view kScramSha256 = "SCRAM-SHA-256";
inline constexpr std::string_view kScramSha256Plus = "SCRAM-SHA-256-PLUS";

// Our half of the exchange's nonce before base64: fresh random bytes for each login. PostgreSQL's size.
using ScramNonce = std::array<std::byte, 18>;

// A SASL message's bytes. PostgreSQL's limit.
inline constexpr std::size_t kSaslMessageBytesMax = 1024;

enum class ScramErrc {
  // A client's fault.
  MessageMalformed = 1,
  MessageEmpty,
  PlusWithoutBinding,
  BindingWithoutPlus,
  BindingTypeUnsupported,
  BindingDowngraded,
  BindingMismatch,
  BindingAttributeUnexpected,
  AuthorizationIdentity,
  ExtensionRequired,
  NonceNotPrintable,
  NonceMismatch,
  WrongProof,
  // A server's fault.
  ServerMessageMalformed,
  ServerNonceForeign,
  ServerIterationsOutOfRange,
  ServerError,
  ServerSignatureWrong
};
std::error_code make_error_code(ScramErrc e) noexcept;

// Severity FATAL, SQLSTATE, message and detail: PostgreSQL's where it is a client's fault. WrongProof gives
// 28P01 without the user's name, which the caller knows.
ErrorFields scram_error_fields(ScramErrc e);

}  // namespace sluice::protocol

template <>
struct std::is_error_code_enum<sluice::protocol::ScramErrc> : std::true_type {};
