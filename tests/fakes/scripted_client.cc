#include "tests/fakes/scripted_client.h"

#include <algorithm>
#include <utility>

#include "protocol/backend_messages.h"

namespace sluice::fakes {
namespace {

constexpr std::uint32_t kBackendMessageBytesMax = 64 * 1024 * 1024;

}  // namespace

ScriptedClient::ScriptedClient(SimNetwork& network, const Address& from, const Address& to)
    : peer_(network.connect(from, to)), decoder_(kBackendMessageBytesMax) {
  peer_.on_change = [this] { take(); };
}

void ScriptedClient::start(std::string_view user, std::vector<protocol::StartupParameter> more,
                           std::uint32_t version) {
  std::vector<protocol::StartupParameter> parameters = {{"user", std::string(user)}, {"database", "app"}};
  parameters.insert(parameters.end(), more.begin(), more.end());
  Bytes out;
  protocol::append_startup_message(out, parameters, version);
  send(out);
}

void ScriptedClient::query(std::string_view sql) {
  Bytes out;
  protocol::append_query(out, sql);
  send(out);
}

void ScriptedClient::terminate() {
  Bytes out;
  protocol::append_terminate(out);
  send(out);
  peer_.close();
}

void ScriptedClient::cancel(const ScriptedClient& other) {
  Bytes out;
  protocol::append_cancel_request(out, other.process_id_, other.secret_);
  send(out);
}

std::optional<std::string> ScriptedClient::parameter(std::string_view name) const {
  // The last report counts.
  const auto found = std::find_if(parameters_.rbegin(), parameters_.rend(),
                                  [&](const auto& entry) { return entry.first == name; });
  return found == parameters_.rend() ? std::nullopt : std::optional(found->second);
}

void ScriptedClient::take() {
  const Bytes bytes = peer_.take_received();
  const auto room = decoder_.prepare(bytes.size());
  std::copy(bytes.begin(), bytes.end(), room.begin());
  decoder_.commit(bytes.size());
  for (;;) {
    const auto frame = decoder_.next();
    if (!frame) types_ += '!';  // no message: the test sees it in types()
    if (!frame || !*frame) return;
    on_message((*frame)->type, (*frame)->body);
  }
}

void ScriptedClient::on_message(char type, ByteView body) {
  types_ += type;
  if (ready_ > 0) protocol::append_message(session_bytes_, type, body);
  ByteReader in(body);
  switch (type) {
    case 'R':
      return on_authentication(body);
    case 'S': {
      const auto name = in.cstring();
      const auto value = in.cstring();
      if (name && value) parameters_.emplace_back(*name, *value);
      return;
    }
    case 'K':
      process_id_ = in.i32().value_or(0);
      secret_.assign(in.rest().begin(), in.rest().end());
      return;
    case 'E':
      errors_.push_back(protocol::parse_error_fields(body));
      return;
    case 'Z':
      ++ready_;
      if (at_ready.empty()) return;
      send(std::exchange(at_ready.front(), {}));
      at_ready.pop_front();
      return;
    default:
      return;
  }
}

void ScriptedClient::on_authentication(ByteView body) {
  ByteReader in(body);
  const std::uint32_t code = in.u32().value_or(~0u);
  Bytes out;
  if (code == 3) protocol::append_password_message(out, password);
  if (code == 10) {
    scram_.emplace(protocol::PlainPassword{password}, protocol::ScramClient::Binding::NotSupported, Bytes(),
                   "clientnonceclientnonce");
    protocol::append_sasl_initial_response(out, scram_->mechanism(), as_bytes(scram_->first()));
  }
  if (code == 11 && scram_) {
    const auto final = scram_->final(as_text(in.rest()));
    if (final) protocol::append_sasl_response(out, as_bytes(*final));
  }
  if (code == 12 && (!scram_ || !scram_->verify(as_text(in.rest())))) types_ += '!';
  if (automatic && !out.empty()) send(out);
}

}  // namespace sluice::fakes
