#include "protocol/client_login.h"

#include <utility>

#include "base/assert.h"
#include "protocol/backend_messages.h"

namespace sluice::protocol {

// Start-up: from the first byte to the method. client_authentication.cc has the rest.

ClientLogin::ClientLogin(const Settings& settings) : settings_(settings) {}

ClientLogin::Want ClientLogin::step() {
  while (true) {
    switch (state_) {
      case State::Startup:
        if (step_startup()) continue;
        return Want::Read;
      case State::Md5Response:
      case State::SaslInitialResponse:
      case State::SaslFirstMessage:
      case State::SaslFinalMessage:
        if (step_authentication()) continue;
        return Want::Read;
      case State::StartTls:
        return Want::StartTls;
      case State::ChooseMethod:
        return Want::ChooseMethod;
      case State::Relay:
        return Want::Relay;
      case State::Authenticated:
        return Want::Authenticated;
      case State::Cancel:
        return Want::Cancel;
      case State::Close:
        return Want::Close;
    }
  }
}

Bytes ClientLogin::take_output() {
  return std::exchange(output_, {});
}

void ClientLogin::tls_started(TlsFacts facts) {
  SLUICE_ASSERT(state_ == State::StartTls && input_.view().empty());
  tls_ = std::move(facts);
  state_ = State::Startup;
}

void ClientLogin::direct_tls_started(TlsFacts facts) {
  SLUICE_ASSERT(state_ == State::Startup && !tls_ && input_.view().empty());
  tls_ = std::move(facts);
  negotiations_open_ = {false, false};
}

bool ClientLogin::step_startup() {
  ByteReader in(input_.view());
  const auto length_word = in.u32();
  if (!length_word) return false;
  const auto size = startup_body_bytes(*length_word, settings_.startup_bytes_max);
  if (const auto* refused = std::get_if<StartupRefusal>(&size)) {
    fail_startup(*refused);
    return true;
  }
  const std::size_t body_bytes = *std::get_if<std::size_t>(&size);
  const auto body = in.take(body_bytes);
  if (!body) return false;
  auto parsed = parse_startup_packet(*body, negotiations_open_, output_);
  input_.consume(4 + body_bytes);
  if (const auto* refused = std::get_if<StartupRefusal>(&parsed))
    fail_startup(*refused);
  else
    on_packet(std::move(*std::get_if<StartupPacket>(&parsed)));
  return true;
}

void ClientLogin::on_packet(StartupPacket packet) {
  if (std::holds_alternative<SslRequest>(packet)) {
    negotiations_open_.ssl = false;
    // Inside TLS there is nothing left to negotiate.
    if (settings_.tls_available) negotiations_open_.gss = false;
    negotiate(settings_.tls_available, State::StartTls, "received unencrypted data after SSL request");
  } else if (std::holds_alternative<GssEncRequest>(packet)) {
    negotiations_open_.gss = false;
    negotiate(false, State::Startup, "received unencrypted data after GSSAPI encryption request");
  } else if (auto* cancel = std::get_if<CancelRequest>(&packet)) {
    cancel_ = std::move(*cancel);
    state_ = State::Cancel;
  } else {
    startup_ = std::move(*std::get_if<StartupMessage>(&packet));
    state_ = State::ChooseMethod;
    if (settings_.tls_required && !tls_)
      fail("28000", "connection requires TLS", {}, "Connect with sslmode=require or stronger.");
  }
}

// A client waits for the one-byte answer. What comes glued behind the request may have been injected by
// somebody who wants it believed as if it had come through TLS.
void ClientLogin::negotiate(bool accept, State accepted, std::string_view glued_message) {
  const bool glued = !input_.view().empty();
  // Once 'S' is out a client reads TLS only, so a refusal could not be told: it is a plain close.
  if (accept && glued) {
    fail_startup({StartupRefusal::Answer::Silent, {"FATAL", "08P01", std::string(glued_message), {}, {}}});
    return;
  }
  output_.push_back(static_cast<std::byte>(accept ? 'S' : 'N'));
  if (glued)
    fail("08P01", std::string(glued_message),
         "This could be either a client-software bug or evidence of an attempted man-in-the-middle attack.");
  else if (accept)
    state_ = accepted;
}

const StartupMessage& ClientLogin::startup() const {
  SLUICE_ASSERT(!startup_.user.empty());
  return startup_;
}

StartupMessage& ClientLogin::startup() {
  SLUICE_ASSERT(!startup_.user.empty());
  return startup_;
}

const CancelRequest& ClientLogin::cancel_request() const {
  SLUICE_ASSERT(state_ == State::Cancel);
  return cancel_;
}

void ClientLogin::fail_startup(const StartupRefusal& refused) {
  append_refusal(output_, refused);
  refusal_ = refused.fields;
  state_ = State::Close;
}

void ClientLogin::fail(std::string sqlstate, std::string message, std::string detail, std::string hint) {
  fail_startup({StartupRefusal::Answer::ErrorResponse,
                {"FATAL", std::move(sqlstate), std::move(message), std::move(detail), std::move(hint)}});
}

}  // namespace sluice::protocol
