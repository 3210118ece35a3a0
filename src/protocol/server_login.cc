#include "protocol/server_login.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "protocol/backend_messages.h"

namespace sluice::protocol {

// Transport, order of messages and what follows authentication. server_authentication.cc answers the
// challenges.

ServerLogin::ServerLogin(Settings settings) : settings_(std::move(settings)) {}

ServerLogin::Want ServerLogin::step() {
  while (true) {
    switch (state_) {
      case State::Start:
        begin();
        continue;
      case State::TlsReply:
        if (step_tls_reply()) continue;
        return Want::Read;
      case State::Authentication:
      case State::SaslContinue:
      case State::SaslFinal:
      case State::SaslDone:
      case State::Settings:
        if (step_message()) continue;
        return Want::Read;
      case State::StartTls:
        return Want::StartTls;
      case State::ReconnectPlain:
        return Want::ReconnectPlain;
      case State::ReconnectTls:
        return Want::ReconnectTls;
      case State::Ready:
        return Want::Ready;
      case State::Failed:
        return Want::Failed;
    }
  }
}

Bytes ServerLogin::take_output() {
  return std::exchange(output_, {});
}

void ServerLogin::begin() {
  const bool may_be_plain = settings_.sslmode == SslMode::Disable || settings_.sslmode == SslMode::Allow ||
                            settings_.sslmode == SslMode::Prefer;
  const bool plain = !settings_.tls_possible || settings_.sslmode == SslMode::Disable ||
                     (settings_.sslmode == SslMode::Allow && settings_.attempt != Attempt::TlsRetry) ||
                     (may_be_plain && settings_.attempt == Attempt::PlainRetry);
  if (plain) {
    send_startup();
    return;
  }
  append_ssl_request(output_);
  state_ = State::TlsReply;
}

void ServerLogin::send_startup() {
  append_startup_message(output_, settings_.parameters);
  state_ = State::Authentication;
}

bool ServerLogin::step_tls_reply() {
  const ByteView reply = input_.view();
  if (reply.empty()) return false;
  const char answer = as_text(reply)[0];
  if (answer != 'S' && answer != 'N') {
    // An 'E' is an error from before TLS: anybody could have written its text, so it is not repeated.
    fail("08P01", answer == 'E' ? "server answered SSLRequest with an error"
                                : "server answered SSLRequest with something that is no answer");
    return true;
  }
  if (reply.size() > 1) {
    fail("08P01", "received unencrypted data after SSL response",
         "This could be either a fault of the server or evidence of an attempted man-in-the-middle attack.");
    return true;
  }
  input_.consume(1);
  if (answer == 'S') {
    state_ = State::StartTls;
  } else if (settings_.sslmode == SslMode::Prefer && settings_.attempt != Attempt::TlsRetry) {
    send_startup();
  } else {
    fail("08001", "server does not support TLS, but TLS was required", {},
         "Switch ssl on at the server, or set server_tls_sslmode to prefer.");
  }
  return true;
}

void ServerLogin::tls_started(Bytes channel_binding) {
  SLUICE_ASSERT(state_ == State::StartTls);
  tls_ = true;
  channel_binding_ = std::move(channel_binding);
  send_startup();
}

void ServerLogin::tls_failed(std::string_view reason) {
  SLUICE_ASSERT(state_ == State::StartTls);
  if (settings_.sslmode == SslMode::Prefer && settings_.attempt == Attempt::First)
    state_ = State::ReconnectPlain;
  else
    fail("08001", "TLS handshake with the server failed: " + std::string(reason));
}

bool ServerLogin::step_message() {
  LoginBuffer::Message message{};
  switch (input_.peek(message, settings_.message_bytes_max)) {
    case LoginBuffer::Head::Incomplete:
      return false;
    case LoginBuffer::Head::TooShort:
      fail("08P01", "server sent a message with an invalid length during login");
      return true;
    case LoginBuffer::Head::TooLong:
      fail("08P01", "server sent a message that is too long for a login");
      return true;
    case LoginBuffer::Head::Complete:
      break;
  }
  const bool settings_phase = state_ == State::Settings;
  if (message.type == 'E')
    on_error(message.body);
  else if (message.type == 'N')
    on_notice(message.body);
  else if (message.type == 'R' && !settings_phase)
    on_authentication(message.body);
  else if (message.type == 'v' && state_ == State::Authentication)
    on_negotiation(message.body);
  else if (message.type == 'S' && settings_phase)
    on_parameter_status(message.body);
  else if (message.type == 'K' && settings_phase)
    on_backend_key_data(message.body);
  else if (message.type == 'Z' && settings_phase)
    on_ready_for_query(message.body);
  else
    fail("08P01", "server sent an unexpected message during login (type " +
                      std::to_string(static_cast<unsigned char>(message.type)) + ")");
  input_.consume(message);
  return true;
}

void ServerLogin::on_error(ByteView body) {
  // libpq tries the other transport after any refusal before AuthenticationOk. So do we towards TLS; away
  // from it only before the server has asked for anything: a password that was refused over TLS is not shown
  // again without it.
  const bool first_answer = state_ == State::Authentication && !challenged_;
  const bool first_attempt = settings_.attempt == Attempt::First && settings_.tls_possible;
  if (!authenticated_ && may_try_tls()) {
    state_ = State::ReconnectTls;
  } else if (first_answer && first_attempt && settings_.sslmode == SslMode::Prefer && tls_) {
    state_ = State::ReconnectPlain;
  } else {
    failure_ = parse_error_fields(body);
    failure_source_ = FailureSource::Server;
    state_ = State::Failed;
  }
}

void ServerLogin::on_notice(ByteView body) {
  if (++notice_count_ > settings_.notices_max)
    return fail("08P01", "server sent too many notices during login");
  constexpr std::size_t kHeaderBytes = 5;
  if (notices_.size() + kHeaderBytes + body.size() <= settings_.notice_bytes_max)
    append_message(notices_, 'N', body);
}

// Asked for 3.0 and no options, a server has nothing to negotiate; one that says just that is let through.
void ServerLogin::on_negotiation(ByteView body) {
  ByteReader in(body);
  const auto version = in.u32();
  const auto count = in.u32();
  if (!version || !count || in.remaining() != 0 || *version != kProtocol30 || *count != 0 || challenged_)
    fail("08P01", "server wants to negotiate a protocol that was not asked for");
}

void ServerLogin::on_parameter_status(ByteView body) {
  ByteReader in(body);
  const auto name = in.cstring();
  const auto value = name ? in.cstring() : std::nullopt;
  if (!value || in.remaining() != 0) return fail("08P01", "server sent a malformed ParameterStatus");
  const auto same_name = [&name](const Parameter& parameter) { return parameter.first == *name; };
  const auto known = std::find_if(parameters_.begin(), parameters_.end(), same_name);
  if (known != parameters_.end()) {
    known->second = *value;
    return;
  }
  if (parameters_.size() >= settings_.parameters_max)
    return fail("08P01", "server reported too many parameters during login");
  parameters_.emplace_back(*name, *value);
}

void ServerLogin::on_backend_key_data(ByteView body) {
  ByteReader in(body);
  const auto process_id = in.i32();
  // A server without cancel keys may send none, or an empty one.
  const std::size_t size = in.remaining();
  if (!process_id || (size != 0 && (size < kCancelSecretBytesMin || size > kCancelSecretBytesMax)))
    return fail("08P01", "server sent a malformed BackendKeyData");
  process_id_ = *process_id;
  cancel_secret_.assign(in.rest().begin(), in.rest().end());
}

void ServerLogin::on_ready_for_query(ByteView body) {
  if (body.size() != 1 || body[0] != std::byte{'I'})
    return fail("08P01", "server ended its login with a malformed ReadyForQuery");
  state_ = State::Ready;
}

bool ServerLogin::may_try_tls() const noexcept {
  return settings_.attempt == Attempt::First && settings_.tls_possible &&
         settings_.sslmode == SslMode::Allow && !tls_;
}

// Another line of pg_hba.conf may hold for TLS, so sslmode allow looks there first.
void ServerLogin::cannot_answer(std::string message, std::string hint) {
  fail("28000", std::move(message), {}, std::move(hint));
  failure_source_ = FailureSource::Credentials;
  if (may_try_tls()) state_ = State::ReconnectTls;
}

const ErrorFields& ServerLogin::failure() const {
  SLUICE_ASSERT(state_ == State::Failed);
  return failure_;
}

void ServerLogin::fail(std::string sqlstate, std::string message, std::string detail, std::string hint) {
  failure_ = {"FATAL", std::move(sqlstate), std::move(message), std::move(detail), std::move(hint)};
  failure_source_ = FailureSource::Sluice;
  state_ = State::Failed;
}

}  // namespace sluice::protocol
