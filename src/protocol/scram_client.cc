#include "protocol/scram_client.h"

#include <charconv>
#include <utility>

#include "protocol/crypto.h"
#include "protocol/saslprep.h"
#include "protocol/scram_attributes.h"

namespace sluice::protocol {

ScramClient::ScramClient(Credential credential, Binding binding, Bytes channel_binding, std::string nonce,
                         std::uint32_t iterations_max)
    : credential_(std::move(credential)),
      binding_(binding),
      channel_binding_(std::move(channel_binding)),
      nonce_(std::move(nonce)),
      iterations_max_(iterations_max) {}

std::string_view ScramClient::mechanism() const noexcept {
  return binding_ == Binding::TlsServerEndPoint ? kScramSha256Plus : kScramSha256;
}

std::string ScramClient::gs2_header() const {
  switch (binding_) {
    case Binding::NotSupported:
      return "n,,";
    case Binding::NotOffered:
      return "y,,";
    case Binding::TlsServerEndPoint:
      return "p=tls-server-end-point,,";
  }
  return {};
}

std::string ScramClient::first_bare() const {
  return "n=,r=" + nonce_;
}

std::string ScramClient::first() const {
  return gs2_header() + first_bare();
}

Result<std::string> ScramClient::final(std::string_view server_first) {
  const auto fault = [](ScramErrc e) { return Error(e, Side::Server); };
  ScramAttributes in(server_first);
  const auto nonce = in.expect('r');
  const auto salt_text = in.expect('s');
  const auto iterations_text = in.expect('i');
  if (!nonce || !salt_text || !iterations_text) return fault(ScramErrc::ServerMessageMalformed);
  // The server must add something of its own, else it could replay an old exchange.
  if (nonce->size() <= nonce_.size() || nonce->substr(0, nonce_.size()) != nonce_)
    return fault(ScramErrc::ServerNonceForeign);
  const auto salt = base64_decode(*salt_text);
  if (!salt || salt->empty() || salt->size() > kScramSaltBytesMax)
    return fault(ScramErrc::ServerMessageMalformed);
  std::uint32_t iterations = 0;
  const char* end = iterations_text->data() + iterations_text->size();
  const auto [stop, error] = std::from_chars(iterations_text->data(), end, iterations);
  if (error == std::errc::result_out_of_range) return fault(ScramErrc::ServerIterationsOutOfRange);
  if (error != std::errc{} || stop != end) return fault(ScramErrc::ServerMessageMalformed);
  if (iterations < 1 || iterations > iterations_max_) return fault(ScramErrc::ServerIterationsOutOfRange);
  while (!in.at_end())
    if (!in.next()) return fault(ScramErrc::ServerMessageMalformed);

  ClientKeys keys;
  if (const auto* recovered = std::get_if<ClientKeys>(&credential_)) {
    keys = *recovered;
  } else {
    const std::string password = saslprep(std::get_if<PlainPassword>(&credential_)->password);
    const ScramKey salted_password = pbkdf2_sha256(password, *salt, iterations);
    keys.client_key = hmac_sha256(salted_password, as_bytes("Client Key"));
    keys.server_key = hmac_sha256(salted_password, as_bytes("Server Key"));
  }

  const std::string header = gs2_header();
  Bytes binding(as_bytes(header).begin(), as_bytes(header).end());
  if (binding_ == Binding::TlsServerEndPoint) append(binding, channel_binding_);
  const std::string without_proof = "c=" + base64_encode(binding) + ",r=" + std::string(*nonce);
  const std::string auth_message = first_bare() + "," + std::string(server_first) + "," + without_proof;
  const ScramKey client_signature = hmac_sha256(sha256(keys.client_key), as_bytes(auth_message));
  server_signature_ = hmac_sha256(keys.server_key, as_bytes(auth_message));
  return without_proof + ",p=" + base64_encode(exclusive_or(keys.client_key, client_signature));
}

Result<void> ScramClient::verify(std::string_view server_final) const {
  const auto fault = [](ScramErrc e) { return Error(e, Side::Server); };
  ScramAttributes in(server_final);
  if (server_final.substr(0, 2) == "e=") return fault(ScramErrc::ServerError);
  const auto text = in.expect('v');
  if (!text) return fault(ScramErrc::ServerMessageMalformed);
  const auto signature = base64_decode(*text);
  if (!signature || signature->size() != kScramKeyBytes) return fault(ScramErrc::ServerMessageMalformed);
  if (!equal_in_constant_time(*signature, server_signature_)) return fault(ScramErrc::ServerSignatureWrong);
  return {};
}

}  // namespace sluice::protocol
