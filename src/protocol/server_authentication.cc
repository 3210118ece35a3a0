#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "protocol/backend_messages.h"
#include "protocol/crypto.h"
#include "protocol/md5_login.h"
#include "protocol/server_login.h"

namespace sluice::protocol {
namespace {

// Codes of the Authentication messages. Source: PostgreSQL manual, "Message Formats".
enum class Code : std::uint32_t {
  Ok = 0,
  Cleartext = 3,
  Md5 = 5,
  Sasl = 10,
  SaslContinue = 11,
  SaslFinal = 12
};

std::string method_name(std::uint32_t code) {
  switch (code) {
    case 1:
      return "Kerberos V4";
    case 2:
      return "Kerberos V5";
    case 4:
      return "crypt()";
    case 6:
      return "SCM credentials";
    case 7:
    case 8:
      return "GSSAPI";
    case 9:
      return "SSPI";
    default:
      return "an unknown method";
  }
}

// Names from a server are shown in an error only as far as they look like names.
std::string printable(std::string_view text) {
  constexpr std::size_t kShownBytesMax = 64;
  std::string shown(text.substr(0, kShownBytesMax));
  std::replace_if(
      shown.begin(), shown.end(), [](unsigned char c) { return c < 0x20 || c > 0x7E; }, '?');
  return shown;
}

}  // namespace

void ServerLogin::on_authentication(ByteView body) {
  ByteReader in(body);
  const auto code = in.u32();
  if (!code) return fail("08P01", "server sent a malformed authentication request");
  const bool sasl_running = state_ == State::SaslContinue || state_ == State::SaslFinal;
  const bool begins = *code != static_cast<std::uint32_t>(Code::Ok) &&
                      *code != static_cast<std::uint32_t>(Code::SaslContinue) &&
                      *code != static_cast<std::uint32_t>(Code::SaslFinal);
  // One challenge a login; a second one could be after a second form of the same secret.
  if (begins && challenged_) return fail("08P01", "server asked for a second authentication");
  if (begins) challenged_ = true;
  switch (static_cast<Code>(*code)) {
    case Code::Ok:
      if (in.remaining() != 0) return fail("08P01", "server sent a malformed authentication request");
      // It has not shown that it knows the verifier.
      if (sasl_running) return fail("28000", "server ended the SCRAM exchange before it had proved itself");
      authenticated_ = true;
      state_ = State::Settings;
      return;
    case Code::Cleartext:
      return on_cleartext();
    case Code::Md5:
      return on_md5(in.rest());
    case Code::Sasl:
      return on_sasl(in.rest());
    case Code::SaslContinue:
      if (state_ != State::SaslContinue) break;
      return on_sasl_continue(in.rest());
    case Code::SaslFinal:
      if (state_ != State::SaslFinal) break;
      return on_sasl_final(in.rest());
    default:
      return cannot_answer(
          "server asked for " + method_name(*code) + " (authentication method " + std::to_string(*code) +
              "), which Sluice cannot do",
          "Let pg_hba.conf use scram-sha-256, md5, cert or trust for connections from Sluice.");
  }
  fail("08P01", "server sent an authentication request out of order");
}

void ServerLogin::on_cleartext() {
  // A Unix socket has no eavesdropper.
  if (!tls_ && settings_.tls_possible && !settings_.allow_cleartext_without_tls)
    return cannot_answer("server asked for the password in clear text on a connection without TLS",
                         "Use TLS to the server, or scram-sha-256 in its pg_hba.conf.");
  if (!settings_.credentials.password)
    return cannot_answer(
        "server asked for the password in clear text, and none is known",
        "Set server_user and server_password_file, or use scram-sha-256 in its pg_hba.conf.");
  append_password_message(output_, *settings_.credentials.password);
}

void ServerLogin::on_md5(ByteView body) {
  std::array<std::byte, 4> salt{};
  if (body.size() != salt.size()) return fail("08P01", "server sent a malformed authentication request");
  std::copy(body.begin(), body.end(), salt.begin());
  std::optional<std::string> stored = settings_.credentials.md5_hash;
  if (!stored && settings_.credentials.password) {
    std::string user;
    for (const auto& [name, value] : settings_.parameters)
      if (name == "user") user = value;
    stored = md5_hash(user, *settings_.credentials.password);
  }
  const auto response = stored ? md5_response(*stored, salt) : std::nullopt;
  if (!response)
    return cannot_answer("server asked for MD5 authentication, and neither hash nor password is known",
                         "Use scram-sha-256 in its pg_hba.conf, or store the user's MD5 hash.");
  append_password_message(output_, *response);
}

void ServerLogin::on_sasl(ByteView body) {
  bool plain_offered = false;
  bool plus_offered = false;
  std::string offered;
  ByteReader in(body);
  while (true) {
    const auto mechanism = in.cstring();
    if (!mechanism) return fail("08P01", "server sent a malformed authentication request");
    if (mechanism->empty()) break;
    plain_offered = plain_offered || *mechanism == kScramSha256;
    plus_offered = plus_offered || *mechanism == kScramSha256Plus;
    if (offered.size() < 256) offered += (offered.empty() ? "" : ", ") + printable(*mechanism);
  }
  if (in.remaining() != 0) return fail("08P01", "server sent a malformed authentication request");

  const bool can_bind = tls_ && !channel_binding_.empty();
  if (plus_offered && !tls_)
    return fail("08P01", "server offered SCRAM-SHA-256-PLUS on a connection without TLS");
  if (!plain_offered && !(plus_offered && can_bind))
    return cannot_answer("server offers only authentication mechanisms that Sluice cannot do: " + offered,
                         "Let it offer SCRAM-SHA-256.");
  ScramClient::Credential credential;
  if (settings_.credentials.client_keys)
    credential = *settings_.credentials.client_keys;
  else if (settings_.credentials.password)
    credential = PlainPassword{*settings_.credentials.password};
  else
    return cannot_answer(
        "server asked for SCRAM authentication, and neither keys nor password are known",
        "Log the client in with scram-sha-256, or set server_user and server_password_file.");
  const auto binding = plus_offered && can_bind ? ScramClient::Binding::TlsServerEndPoint
                       : can_bind               ? ScramClient::Binding::NotOffered
                                                : ScramClient::Binding::NotSupported;
  scram_.emplace(std::move(credential), binding, channel_binding_, base64_encode(settings_.scram_nonce),
                 settings_.scram_iterations_max);
  append_sasl_initial_response(output_, scram_->mechanism(), as_bytes(scram_->first()));
  state_ = State::SaslContinue;
}

void ServerLogin::on_sasl_continue(ByteView body) {
  const auto response = scram_->final(as_text(body));
  if (!response) {
    const ErrorFields fields = scram_error_fields(static_cast<ScramErrc>(response.error().code.value()));
    return fail(fields.sqlstate, fields.message, fields.detail);
  }
  append_sasl_response(output_, as_bytes(*response));
  state_ = State::SaslFinal;
}

void ServerLogin::on_sasl_final(ByteView body) {
  const auto verified = scram_->verify(as_text(body));
  if (!verified) {
    const ErrorFields fields = scram_error_fields(static_cast<ScramErrc>(verified.error().code.value()));
    return fail(fields.sqlstate, fields.message, fields.detail);
  }
  state_ = State::SaslDone;
}

}  // namespace sluice::protocol
