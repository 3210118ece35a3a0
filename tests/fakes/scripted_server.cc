#include "tests/fakes/scripted_server.h"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "base/assert.h"
#include "protocol/backend_messages.h"
#include "protocol/error_response.h"
#include "protocol/frontend_messages.h"

namespace sluice::fakes {
namespace {

constexpr std::uint32_t kFrontendMessageBytesMax = 64 * 1024 * 1024;
constexpr std::array<std::byte, 4> kSecret = {std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}};

// The SQL of Query and Parse, nothing of others.
std::string_view text_of(char type, ByteView body) {
  ByteReader in(body);
  if (type == 'P') (void)in.cstring();
  return type == 'Q' || type == 'P' ? in.cstring().value_or("") : std::string_view();
}

}  // namespace

Backend::Backend(ScriptedServer& server, SimPeer& peer, std::int32_t process_id)
    : server_(server), peer_(peer), process_id_(process_id) {
  peer_.on_change = [this] { take(); };
}

void Backend::send(ByteView bytes) {
  if (phase_ == Phase::Session) append(sent_bytes_, bytes);
  peer_.send(bytes);
}

void Backend::die(std::string_view sqlstate) {
  if (!sqlstate.empty()) {
    Bytes out;
    protocol::append_error_response(out, {"FATAL", std::string(sqlstate), "the server says so", "", ""});
    send(out);
  }
  peer_.close();
}

void Backend::take() {
  if (peer_.closed()) return;
  if (phase_ == Phase::Startup) {
    append(startup_, peer_.take_received());
    while (phase_ == Phase::Startup && take_startup()) {
    }
  } else {
    const Bytes bytes = peer_.take_received();
    const auto room = decoder_->prepare(bytes.size());
    std::copy(bytes.begin(), bytes.end(), room.begin());
    decoder_->commit(bytes.size());
  }
  while (decoder_ && !peer_.closed()) {
    const auto frame = decoder_->next();
    if (!frame || !*frame) break;
    on_message((*frame)->type, (*frame)->body);
  }
  if (peer_.ended()) peer_.close();
}

bool Backend::take_startup() {
  ByteReader in(startup_);
  const auto length = in.u32();
  if (!length || startup_.size() < *length) return false;
  const Bytes packet(startup_.begin(), startup_.begin() + static_cast<std::ptrdiff_t>(*length));
  startup_.erase(startup_.begin(), startup_.begin() + static_cast<std::ptrdiff_t>(*length));
  ByteReader body(packet);
  (void)body.u32();
  const std::uint32_t code = body.u32().value_or(0);
  if (code == protocol::kSslRequestCode) {
    peer_.send(as_bytes("N"));
  } else if (code == protocol::kCancelRequestCode) {
    server_.cancels_.push_back(body.i32().value_or(0));
    if (!server_.hold_cancels) peer_.close();
  } else {
    start(body);
  }
  return true;
}

void Backend::start(ByteReader in) {
  decoder_.emplace(kFrontendMessageBytesMax);
  phase_ = Phase::Password;
  for (auto name = in.cstring(); name && !name->empty(); name = in.cstring()) {
    const auto value = in.cstring();
    if (value && *name == "user") user_ = *value;
  }
  if (server_.refusal) return die(*server_.refusal);
  Bytes out;
  switch (server_.login) {
    case ScriptedServer::Login::Trust:
      return greet();
    case ScriptedServer::Login::Cleartext:
      protocol::append_authentication_cleartext(out);
      break;
    case ScriptedServer::Login::Scram: {
      phase_ = Phase::Sasl;
      scram_.emplace(server_.verifiers[user_], protocol::ScramServer::Verdict::ByProof,
                     protocol::ScramServer::Channel::Plain, Bytes(), "servernonceservernonce");
      protocol::append_authentication_sasl(out, scram_->mechanisms());
      break;
    }
  }
  send(out);
}

void Backend::on_password(ByteView body) {
  if (server_.stop == ScriptedServer::Stop::InMiddleOfLogin) {
    if (server_.manner == ScriptedServer::Manner::Closes) die("");
    return;
  }
  if (phase_ == Phase::Password) return greet();
  Bytes out;
  ByteReader in(body);
  if (phase_ == Phase::Sasl) {
    const auto mechanism = in.cstring();
    (void)in.u32();
    if (!mechanism || !scram_->select(*mechanism)) return die("08P01");
    const auto first = scram_->first(as_text(in.rest()));
    if (!first) return die("08P01");
    protocol::append_authentication_sasl_continue(out, as_bytes(*first));
    phase_ = Phase::SaslFinal;
    return send(out);
  }
  const auto final = scram_->final(as_text(body));
  if (!final) return die("28P01");
  protocol::append_authentication_sasl_final(out, as_bytes(final->server_final));
  send(out);
  greet();
}

void Backend::greet() {
  Bytes out;
  protocol::append_authentication_ok(out);
  protocol::append_parameter_status(out, "server_version", "15.20");
  protocol::append_parameter_status(out, "TimeZone", "UTC");
  protocol::append_backend_key_data(out, process_id_, kSecret);
  if (server_.stop == ScriptedServer::Stop::BeforeReady) {
    send(out);
    if (server_.manner == ScriptedServer::Manner::Closes) die("");
    return;
  }
  append(out, server_.before_ready);
  protocol::append_ready_for_query(out, 'I');
  append(out, server_.behind_ready);
  send(out);
  phase_ = Phase::Session;
}

void Backend::on_message(char type, ByteView body) {
  if (phase_ != Phase::Session) {
    if (type == 'p') on_password(body);
    return;
  }
  const std::string text(text_of(type, body));
  protocol::append_message(session_bytes_, type, body);
  heard_.push_back(type + (":" + text));
  if (server_.on_message && server_.on_message(*this, type, text)) return;
  answer(type, text);
}

void Backend::answer(char type, std::string_view text) {
  Bytes out;
  switch (type) {
    case 'Q':
      return answer_query(text);
    case 'X':
      return peer_.close();
    case 'P':
      protocol::append_message(out, '1', {});
      break;
    case 'B':
      protocol::append_message(out, '2', {});
      break;
    case 'D':
      protocol::append_message(out, 'n', {});
      break;
    case 'E':
      protocol::append_command_complete(out, "SELECT 0");
      break;
    case 'S':
      protocol::append_ready_for_query(out, status_);
      break;
    default:
      return;
  }
  send(out);
}

void Backend::answer_query(std::string_view sql) {
  Bytes out;
  const std::string text(sql);
  if (text == "wait") return;
  if (text == "DISCARD ALL" && server_.reset != ScriptedServer::Reset::Confirms) {
    if (server_.reset == ScriptedServer::Reset::StaysSilent) return;
    protocol::append_error_response(out, {"ERROR", "55000", "cannot be reset", "", ""});
    protocol::append_ready_for_query(out, status_);
    return send(out);
  }
  if (text == "error") {
    protocol::append_error_response(out, {"ERROR", "22012", "division by zero", "", ""});
    if (status_ == 'T') status_ = 'E';
  } else if (text.starts_with("rows ")) {
    char* rest = nullptr;
    const auto count = std::strtoull(text.c_str() + 5, &rest, 10);
    const Bytes row(std::strtoull(rest, nullptr, 10), std::byte{'r'});
    for (std::uint64_t i = 0; i < count; ++i)
      protocol::append_message(out, 'D', row);
    protocol::append_command_complete(out, "SELECT " + std::to_string(count));
  } else {
    if (text == "BEGIN") status_ = 'T';
    if (text == "COMMIT" || text == "ROLLBACK") status_ = 'I';
    if (text.starts_with("SELECT")) {
      const std::optional<std::string> value = "1";
      protocol::append_data_row(out, {&value, 1});
    }
    protocol::append_command_complete(out, text.starts_with("SELECT") ? "SELECT 1" : text);
  }
  protocol::append_ready_for_query(out, status_);
  send(out);
}

ScriptedServer::ScriptedServer(SimNetwork& network, Address address)
    : network_(network), address_(std::move(address)) {
  come_up();
}

void ScriptedServer::come_up() {
  network_.serve(address_, [this](SimPeer& peer) {
    const auto process_id = static_cast<std::int32_t>(100 * address_.port + backends_.size() + 1);
    Backend& backend = backends_.emplace_back(*this, peer, process_id);
    if (stop != Stop::AtConnect) return;
    peer.pause();
    if (manner == Manner::Closes) backend.die("");
  });
}

Backend& ScriptedServer::last() {
  const auto found = std::find_if(backends_.rbegin(), backends_.rend(),
                                  [](const Backend& backend) { return backend.logged_in(); });
  SLUICE_ASSERT(found != backends_.rend());
  return *found;
}

void ScriptedServer::go_down() {
  network_.refuse(address_);
}

void ScriptedServer::swallow() {
  network_.swallow(address_);
}

std::size_t ScriptedServer::open_backends() const {
  return static_cast<std::size_t>(
      std::count_if(backends_.begin(), backends_.end(), [](const Backend& b) { return b.open(); }));
}

}  // namespace sluice::fakes
