#include <utility>

#include "base/assert.h"
#include "protocol/backend_messages.h"
#include "protocol/client_login.h"
#include "protocol/crypto.h"
#include "protocol/md5_login.h"

namespace sluice::protocol {

// ClientLogin from the method to AuthenticationOk.

void ClientLogin::authenticate(AuthMethod method, const Secret& secret, const LoginNonces& nonces) {
  SLUICE_ASSERT(state_ == State::ChooseMethod);
  switch (method) {
    case AuthMethod::Reject:
      return fail("28000", "connection rejected for user \"" + startup_.user + "\", database \"" +
                               startup_.database + "\", " + (tls_ ? "SSL encryption" : "no encryption"));
    case AuthMethod::Trust:
      return succeed();
    case AuthMethod::Cert:
      return begin_cert();
    case AuthMethod::Md5: {
      const bool scram = std::holds_alternative<ScramVerifier>(secret) ||
                         (std::holds_alternative<UnknownUser>(secret) &&
                          settings_.unknown_under_md5 == Settings::UnknownUnderMd5::Scram);
      return scram ? begin_scram(secret, nonces) : begin_md5(secret, nonces);
    }
    case AuthMethod::ScramSha256:
      return begin_scram(secret, nonces);
    case AuthMethod::Passthrough:
      state_ = State::Relay;
      return;
  }
}

void ClientLogin::refuse(ErrorFields fields) {
  SLUICE_ASSERT(state_ == State::ChooseMethod || state_ == State::Relay || state_ == State::Authenticated);
  fail_startup({StartupRefusal::Answer::ErrorResponse, std::move(fields)});
}

void ClientLogin::passthrough_done(Passthrough outcome) {
  SLUICE_ASSERT(state_ == State::Relay);
  if (outcome == Passthrough::Succeeded) {
    state_ = State::Authenticated;
    return;
  }
  fail_startup(
      {StartupRefusal::Answer::Silent,
       {"FATAL", "28000", "the server refused the login of user \"" + startup_.user + "\"", {}, {}}});
}

void ClientLogin::begin_cert() {
  if (!tls_ || tls_->certificate_common_name.empty())
    return fail("28000", "connection requires a valid client certificate");
  if (tls_->certificate_common_name != startup_.user)
    return fail("28000", "certificate authentication failed for user \"" + startup_.user + "\"");
  succeed();
}

void ClientLogin::begin_md5(const Secret& secret, const LoginNonces& nonces) {
  std::optional<std::string> stored;
  if (const auto* hash = std::get_if<Md5Hash>(&secret)) {
    stored = hash->text;
  } else if (const auto* plain = std::get_if<PlainPassword>(&secret)) {
    stored = md5_hash(startup_.user, plain->password);
  } else {
    doomed_ = true;
    // Made up: the same work as for a plain password, and nothing that it could fit.
    stored = md5_hash(startup_.user, as_text(settings_.mock_secret));
  }
  const auto expected = stored ? md5_response(*stored, nonces.md5_salt) : std::nullopt;
  if (!expected) return fail("0A000", "MD5 authentication is not available");
  md5_expected_ = *expected;
  append_authentication_md5(output_, nonces.md5_salt);
  state_ = State::Md5Response;
}

void ClientLogin::begin_scram(const Secret& secret, const LoginNonces& nonces) {
  ScramVerifier verifier;
  if (const auto* known = std::get_if<ScramVerifier>(&secret)) {
    verifier = *known;
  } else if (const auto* plain = std::get_if<PlainPassword>(&secret)) {
    verifier =
        scram_verifier_for(startup_.user, plain->password, settings_.mock_secret, settings_.mock_iterations);
  } else {
    // An MD5 hash cannot take part in SCRAM: such a user is treated as unknown.
    doomed_ = true;
    verifier = mock_verifier(startup_.user, settings_.mock_secret, settings_.mock_iterations);
  }
  scram_.emplace(std::move(verifier), doomed_ ? ScramServer::Verdict::Doomed : ScramServer::Verdict::ByProof,
                 tls_ ? ScramServer::Channel::Tls : ScramServer::Channel::Plain,
                 tls_ ? tls_->channel_binding : Bytes{}, base64_encode(nonces.scram));
  append_authentication_sasl(output_, scram_->mechanisms());
  state_ = State::SaslInitialResponse;
}

bool ClientLogin::step_authentication() {
  const bool sasl = state_ != State::Md5Response;
  LoginBuffer::Message message{};
  // The type is judged first: a length means nothing in a message that has no place here.
  const auto head = input_.peek(message, sasl ? kSaslMessageBytesMax : settings_.password_bytes_max);
  if (!input_.view().empty() && input_.view().front() != std::byte{'p'}) {
    fail("08P01", std::string("expected ") + (sasl ? "SASL" : "password") + " response, got message type " +
                      std::to_string(std::to_integer<int>(input_.view().front())));
    return true;
  }
  switch (head) {
    case LoginBuffer::Head::Incomplete:
      return false;
    case LoginBuffer::Head::TooShort:
    case LoginBuffer::Head::TooLong:
      // PostgreSQL counts the first as a failed try and closes silently on the second, where we say why.
      sasl ? fail_password() : fail("08P01", "invalid message length");
      return true;
    case LoginBuffer::Head::Complete:
      break;
  }
  if (state_ == State::Md5Response)
    on_md5_response(message.body);
  else if (state_ == State::SaslInitialResponse)
    on_sasl_initial_response(message.body);
  else if (state_ == State::SaslFirstMessage)
    on_sasl_message(as_text(message.body));
  else
    on_sasl_final(as_text(message.body));
  input_.consume(message);
  return true;
}

void ClientLogin::on_md5_response(ByteView body) {
  ByteReader in(body);
  const auto response = in.cstring();
  if (!response || in.remaining() > 0) return fail("08P01", "invalid password packet size");
  if (response->empty()) return fail("28P01", "empty password returned by client");
  const bool right = equal_in_constant_time(as_bytes(*response), as_bytes(md5_expected_));
  if (right && !doomed_)
    succeed();
  else
    fail_password();
}

void ClientLogin::on_sasl_initial_response(ByteView body) {
  ByteReader in(body);
  const auto mechanism = in.cstring();
  if (!mechanism) return fail("08P01", "invalid string in message");
  const auto size = in.i32();
  const std::size_t data_bytes = size && *size != -1 ? static_cast<std::uint32_t>(*size) : 0;
  if (!size || data_bytes > in.remaining()) return fail("08P01", "insufficient data left in message");
  if (data_bytes < in.remaining()) return fail("08P01", "invalid message format");
  if (!scram_->select(*mechanism))
    return fail("08P01", "client selected an invalid SASL authentication mechanism");
  if (*size == -1) {
    append_authentication_sasl_continue(output_, {});
    state_ = State::SaslFirstMessage;
    return;
  }
  on_sasl_message(as_text(in.rest()));
}

void ClientLogin::on_sasl_message(std::string_view client_first) {
  const auto server_first = scram_->first(client_first);
  if (!server_first) return fail_scram(server_first.error().code);
  append_authentication_sasl_continue(output_, as_bytes(*server_first));
  state_ = State::SaslFinalMessage;
}

void ClientLogin::on_sasl_final(std::string_view client_final) {
  const auto success = scram_->final(client_final);
  if (!success) return fail_scram(success.error().code);
  client_keys_ = success->keys;
  append_authentication_sasl_final(output_, as_bytes(success->server_final));
  succeed();
}

void ClientLogin::succeed() {
  append_authentication_ok(output_);
  state_ = State::Authenticated;
}

void ClientLogin::fail_password() {
  fail("28P01", "password authentication failed for user \"" + startup_.user + "\"");
}

void ClientLogin::fail_scram(std::error_code code) {
  if (code == ScramErrc::WrongProof) return fail_password();
  fail_startup(
      {StartupRefusal::Answer::ErrorResponse, scram_error_fields(static_cast<ScramErrc>(code.value()))});
}

}  // namespace sluice::protocol
