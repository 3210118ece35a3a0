#include "protocol/scram_server.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "protocol/crypto.h"
#include "protocol/saslprep.h"
#include "protocol/scram_attributes.h"

namespace sluice::protocol {
namespace {

constexpr std::size_t kMockSaltBytes = 16;  // PostgreSQL's size of a salt
constexpr std::string_view kBindingType = "tls-server-end-point";

// Depends on the user's name and our secret alone. One hash only, so that unknown users cost what known ones
// do.
ScramKey mock_key(std::string_view user, ByteView mock_secret) {
  return hmac_sha256(mock_secret, as_bytes(user));
}

Bytes mock_salt(const ScramKey& key) {
  return Bytes(key.begin(), key.begin() + kMockSaltBytes);
}

bool is_printable(std::string_view nonce) {
  return !nonce.empty() &&
         std::all_of(nonce.begin(), nonce.end(), [](char c) { return c > 0x20 && c < 0x7F; });
}

// The gs2 header at the front of a message that is not empty, as RFC 5802 has it: flag, authorization
// identity, each with its comma. Gives its length.
Result<std::size_t> check_gs2_header(std::string_view message, bool plus, bool plus_offered) {
  std::size_t at = 1;
  switch (message[0]) {
    case 'n':
      if (plus) return ScramErrc::PlusWithoutBinding;
      break;
    case 'y':
      if (plus) return ScramErrc::PlusWithoutBinding;
      // The client could bind and was told that we cannot: somebody in between took -PLUS out of our offer.
      if (plus_offered) return ScramErrc::BindingDowngraded;
      break;
    case 'p': {
      if (!plus) return ScramErrc::BindingWithoutPlus;
      const std::size_t comma = message.find(',');
      if (comma == std::string_view::npos || message.substr(0, 2) != "p=") return ScramErrc::MessageMalformed;
      if (message.substr(2, comma - 2) != kBindingType) return ScramErrc::BindingTypeUnsupported;
      at = comma;
      break;
    }
    default:
      return ScramErrc::MessageMalformed;
  }
  if (message.substr(at, 1) != ",") return ScramErrc::MessageMalformed;
  if (message.substr(at + 1, 1) == "a") return ScramErrc::AuthorizationIdentity;
  if (message.substr(at + 1, 1) != ",") return ScramErrc::MessageMalformed;
  return at + 2;
}

}  // namespace

ScramVerifier scram_verifier(std::string_view password, ByteView salt, std::uint32_t iterations) {
  const ScramKey salted_password = pbkdf2_sha256(saslprep(password), salt, iterations);
  const ScramKey client_key = hmac_sha256(salted_password, as_bytes("Client Key"));
  return {iterations, Bytes(salt.begin(), salt.end()), sha256(client_key),
          hmac_sha256(salted_password, as_bytes("Server Key"))};
}

ScramVerifier scram_verifier_for(std::string_view user, std::string_view password, ByteView mock_secret,
                                 std::uint32_t iterations) {
  return scram_verifier(password, mock_salt(mock_key(user, mock_secret)), iterations);
}

ScramVerifier mock_verifier(std::string_view user, ByteView mock_secret, std::uint32_t iterations) {
  // Half of this StoredKey is shown as the salt; what hashes to it stays unknown, and the verdict is Doomed
  // anyway.
  const ScramKey key = mock_key(user, mock_secret);
  return {iterations, mock_salt(key), key, key};
}

ScramServer::ScramServer(ScramVerifier verifier, Verdict verdict, Channel channel, Bytes channel_binding,
                         std::string nonce)
    : verifier_(std::move(verifier)),
      verdict_(verdict),
      channel_(channel),
      channel_binding_(std::move(channel_binding)),
      server_nonce_(std::move(nonce)) {}

std::vector<std::string_view> ScramServer::mechanisms() const {
  if (channel_ == Channel::Tls && !channel_binding_.empty()) return {kScramSha256Plus, kScramSha256};
  return {kScramSha256};
}

bool ScramServer::select(std::string_view mechanism) {
  const auto offered = mechanisms();
  plus_ = mechanism == kScramSha256Plus;
  return std::find(offered.begin(), offered.end(), mechanism) != offered.end();
}

Result<std::string> ScramServer::first(std::string_view client_first) {
  if (client_first.empty()) return ScramErrc::MessageEmpty;
  if (client_first.find('\0') != std::string_view::npos) return ScramErrc::MessageMalformed;
  const auto header_bytes = check_gs2_header(client_first, plus_, mechanisms().size() > 1);
  if (!header_bytes) return header_bytes.error();
  gs2_header_ = client_first.substr(0, *header_bytes);
  client_first_bare_ = client_first.substr(*header_bytes);

  if (client_first_bare_.substr(0, 1) == "m") return ScramErrc::ExtensionRequired;
  ScramAttributes in(client_first_bare_);
  // The name in it is not looked at, as in PostgreSQL: the StartupMessage's counts.
  const auto user = in.expect('n');
  const auto client_nonce = in.expect('r');
  if (!user || !client_nonce) return ScramErrc::MessageMalformed;
  if (!is_printable(*client_nonce)) return ScramErrc::NonceNotPrintable;
  while (!in.at_end())
    if (!in.next()) return ScramErrc::MessageMalformed;

  nonce_ = std::string(*client_nonce) + server_nonce_;
  server_first_ =
      "r=" + nonce_ + ",s=" + base64_encode(verifier_.salt) + ",i=" + std::to_string(verifier_.iterations);
  return server_first_;
}

Result<ScramServer::Success> ScramServer::final(std::string_view client_final) {
  if (client_final.empty()) return ScramErrc::MessageEmpty;
  if (client_final.find('\0') != std::string_view::npos) return ScramErrc::MessageMalformed;
  ScramAttributes in(client_final);
  const auto binding = in.expect('c');
  if (!binding) return ScramErrc::MessageMalformed;
  Bytes expected_binding(as_bytes(gs2_header_).begin(), as_bytes(gs2_header_).end());
  if (plus_) append(expected_binding, channel_binding_);
  if (*binding != base64_encode(expected_binding))
    return plus_ ? ScramErrc::BindingMismatch : ScramErrc::BindingAttributeUnexpected;

  const auto nonce = in.expect('r');
  if (!nonce) return ScramErrc::MessageMalformed;
  std::string_view without_proof;
  std::optional<ScramAttributes::Attribute> attribute;
  do {
    without_proof = client_final.substr(0, client_final.size() - in.rest().size());
    attribute = in.next();
    if (!attribute) return ScramErrc::MessageMalformed;
  } while (attribute->name != 'p');
  without_proof.remove_suffix(1);  // the comma
  const auto proof_bytes = base64_decode(attribute->value);
  if (!proof_bytes || proof_bytes->size() != kScramKeyBytes || !in.at_end())
    return ScramErrc::MessageMalformed;
  if (!equal_in_constant_time(as_bytes(*nonce), as_bytes(nonce_))) return ScramErrc::NonceMismatch;

  ScramKey proof{};
  std::copy(proof_bytes->begin(), proof_bytes->end(), proof.begin());
  const std::string auth_message =
      client_first_bare_ + "," + server_first_ + "," + std::string(without_proof);
  const ScramKey client_signature = hmac_sha256(verifier_.stored_key, as_bytes(auth_message));
  const ScramKey client_key = exclusive_or(proof, client_signature);
  const ScramKey server_signature = hmac_sha256(verifier_.server_key, as_bytes(auth_message));
  const bool right = equal_in_constant_time(sha256(client_key), verifier_.stored_key);
  if (!right || verdict_ == Verdict::Doomed) return ScramErrc::WrongProof;
  return Success{"v=" + base64_encode(server_signature), ClientKeys{client_key, verifier_.server_key}};
}

}  // namespace sluice::protocol
