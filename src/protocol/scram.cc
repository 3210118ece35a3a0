#include "protocol/scram.h"

#include <string>

namespace sluice::protocol {
namespace {

// SQLSTATE, message, detail.
struct ScramErrorRow {
  const char* sqlstate;
  const char* message;
  const char* detail;
};

ScramErrorRow row_of(ScramErrc e) {
  switch (e) {
    case ScramErrc::MessageMalformed:
      return {"08P01", "malformed SCRAM message", ""};
    case ScramErrc::MessageEmpty:
      return {"08P01", "malformed SCRAM message", "The message is empty."};
    case ScramErrc::PlusWithoutBinding:
      return {
          "08P01", "malformed SCRAM message",
          "The client selected SCRAM-SHA-256-PLUS, but the SCRAM message does not include channel binding "
          "data."};
    case ScramErrc::BindingWithoutPlus:
      return {
          "08P01", "malformed SCRAM message",
          "The client selected SCRAM-SHA-256 without channel binding, but the SCRAM message includes channel "
          "binding data."};
    case ScramErrc::BindingTypeUnsupported:
      return {"08P01", "unsupported SCRAM channel-binding type", ""};
    case ScramErrc::BindingDowngraded:
      return {"28000", "SCRAM channel binding negotiation error",
              "The client supports SCRAM channel binding but thinks the server does not.  However, this "
              "server does "
              "support channel binding."};
    case ScramErrc::BindingMismatch:
      return {"28000", "SCRAM channel binding check failed", ""};
    case ScramErrc::BindingAttributeUnexpected:
      return {"08P01", "unexpected SCRAM channel-binding attribute in client-final-message", ""};
    case ScramErrc::AuthorizationIdentity:
      return {"0A000", "client uses authorization identity, but it is not supported", ""};
    case ScramErrc::ExtensionRequired:
      return {"0A000", "client requires an unsupported SCRAM extension", ""};
    case ScramErrc::NonceNotPrintable:
      return {"08P01", "non-printable characters in SCRAM nonce", ""};
    case ScramErrc::NonceMismatch:
      return {"08P01", "invalid SCRAM response", "Nonce does not match."};
    case ScramErrc::WrongProof:
      return {"28P01", "password authentication failed", ""};
    case ScramErrc::ServerMessageMalformed:
      return {"08P01", "malformed SCRAM message from the server", ""};
    case ScramErrc::ServerNonceForeign:
      return {"08P01", "invalid SCRAM message from the server",
              "The server's nonce does not begin with ours."};
    case ScramErrc::ServerIterationsOutOfRange:
      return {"08P01", "the server asks for a SCRAM iteration count that is out of range", ""};
    case ScramErrc::ServerError:
      return {"28P01", "the server ended the SCRAM exchange with an error", ""};
    case ScramErrc::ServerSignatureWrong:
      return {"28000", "the server does not know the user's SCRAM verifier",
              "Its signature is wrong: it may be another server that poses as this one."};
  }
  return {"XX000", "unknown SCRAM error", ""};
}

class ScramCategory final : public std::error_category {
 public:
  const char* name() const noexcept override { return "scram"; }
  std::string message(int value) const override { return row_of(static_cast<ScramErrc>(value)).message; }
};

const ScramCategory kScramCategory;

}  // namespace

std::error_code make_error_code(ScramErrc e) noexcept {
  return {static_cast<int>(e), kScramCategory};
}

ErrorFields scram_error_fields(ScramErrc e) {
  const ScramErrorRow row = row_of(e);
  return {"FATAL", row.sqlstate, row.message, row.detail, {}};
}

}  // namespace sluice::protocol
