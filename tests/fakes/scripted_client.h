#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "protocol/error_response.h"
#include "protocol/frame_decoder.h"
#include "protocol/frontend_messages.h"
#include "protocol/scram_client.h"
#include "tests/fakes/sim_network.h"

namespace sluice::fakes {

// A PostgreSQL client on a simulated network: it logs in by itself, and keeps what it is told.
class ScriptedClient {
 public:
  ScriptedClient(SimNetwork& network, const Address& from, const Address& to);
  ScriptedClient(const ScriptedClient&) = delete;
  ScriptedClient& operator=(const ScriptedClient&) = delete;

  std::string password = "wonderland";
  bool automatic = true;  // false: leaves requests to authenticate unanswered
  // Sent one by one, each at a ReadyForQuery.
  std::deque<Bytes> at_ready;

  void start(std::string_view user, std::vector<protocol::StartupParameter> more = {},
             std::uint32_t version = protocol::kProtocol30);
  void query(std::string_view sql);
  void terminate();
  void send(ByteView bytes) { peer_.send(bytes); }
  // Asks for the cancelling of `other`'s query, on this connection.
  void cancel(const ScriptedClient& other);

  SimPeer& peer() noexcept { return peer_; }
  // The types of the messages received, in order: "RSSKZ".
  const std::string& types() const noexcept { return types_; }
  std::size_t ready_count() const noexcept { return ready_; }
  bool ready() const noexcept { return ready_ > 0; }
  const std::vector<protocol::ErrorFields>& errors() const noexcept { return errors_; }
  // SQLSTATE of the last ErrorResponse; "" without one.
  std::string sqlstate() const { return errors_.empty() ? "" : errors_.back().sqlstate; }
  // All that was received behind the first ReadyForQuery.
  const Bytes& session_bytes() const noexcept { return session_bytes_; }
  // The beginning of a message whose end has not come.
  ByteView cut_short() const noexcept { return decoder_.unread(); }
  std::optional<std::string> parameter(std::string_view name) const;
  bool ended() const noexcept { return peer_.ended() || peer_.was_reset(); }
  std::int32_t process_id() const noexcept { return process_id_; }
  const Bytes& secret() const noexcept { return secret_; }

 private:
  void take();
  void on_message(char type, ByteView body);
  void on_authentication(ByteView body);

  SimPeer& peer_;
  protocol::FrameDecoder decoder_;
  std::optional<protocol::ScramClient> scram_;
  std::string types_;
  std::vector<protocol::ErrorFields> errors_;
  std::vector<std::pair<std::string, std::string>> parameters_;
  Bytes session_bytes_;
  std::size_t ready_ = 0;
  std::int32_t process_id_ = 0;
  Bytes secret_;
};

}  // namespace sluice::fakes
