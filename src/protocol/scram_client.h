#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "base/bytes.h"
#include "base/result.h"
#include "protocol/scram.h"
#include "protocol/secret.h"

namespace sluice::protocol {

// The client's side of one exchange, from a password or from recovered keys. first(), final(), verify(), in
// this order; after an error it is dead. Authenticated only after verify() succeeded.
class ScramClient {
 public:
  // How the exchange is bound to the TLS channel: RFC 5802's gs2 flags 'n', 'y' and 'p'.
  enum class Binding { NotSupported, NotOffered, TlsServerEndPoint };
  using Credential = std::variant<PlainPassword, ClientKeys>;
  // `nonce`: as ScramServer's.
  // `channel_binding`: the server certificate's hash, used with TlsServerEndPoint alone.
  ScramClient(Credential credential, Binding binding, Bytes channel_binding, std::string nonce,
              std::uint32_t iterations_max = kScramIterationsMax);

  std::string_view mechanism() const noexcept;
  // client-first-message. The user's name in it is empty: PostgreSQL takes the one of the StartupMessage.
  std::string first() const;
  // server-first-message in, client-final-message out. With a password: runs PBKDF2.
  Result<std::string> final(std::string_view server_first);
  // server-final-message in: ServerSignatureWrong if the server does not know the verifier.
  Result<void> verify(std::string_view server_final) const;

 private:
  std::string gs2_header() const;
  std::string first_bare() const;

  Credential credential_;
  Binding binding_;
  Bytes channel_binding_;
  std::string nonce_;
  std::uint32_t iterations_max_;
  ScramKey server_signature_{};
};

}  // namespace sluice::protocol
