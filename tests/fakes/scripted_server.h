#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "protocol/frame_decoder.h"
#include "protocol/scram_server.h"
#include "protocol/secret.h"
#include "tests/fakes/sim_network.h"

namespace sluice::fakes {

class ScriptedServer;

// One connection to a scripted server.
class Backend {
 public:
  Backend(ScriptedServer& server, SimPeer& peer, std::int32_t process_id);
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;

  SimPeer& peer() noexcept { return peer_; }
  std::int32_t process_id() const noexcept { return process_id_; }
  const std::string& user() const noexcept { return user_; }
  bool logged_in() const noexcept { return phase_ == Phase::Session; }
  // Neither end has closed it.
  bool open() const noexcept { return !peer_.closed() && !peer_.hung_up(); }
  // Messages behind the login, as "type:text"; the text is the SQL of Query and Parse. "Q:SELECT 1".
  const std::vector<std::string>& heard() const noexcept { return heard_; }
  const Bytes& session_bytes() const noexcept { return session_bytes_; }
  const Bytes& sent_bytes() const noexcept { return sent_bytes_; }  // behind its first ReadyForQuery

  void send(ByteView bytes);
  // Ends the connection with an ErrorResponse FATAL, or without a word.
  void die(std::string_view sqlstate);

 private:
  enum class Phase { Startup, Sasl, SaslFinal, Password, Session };
  void take();
  bool take_startup();
  void start(ByteReader in);
  void on_message(char type, ByteView body);
  void on_password(ByteView body);
  void greet();
  void answer(char type, std::string_view text);
  void answer_query(std::string_view sql);

  ScriptedServer& server_;
  SimPeer& peer_;
  const std::int32_t process_id_;
  Phase phase_ = Phase::Startup;
  Bytes startup_;
  std::string user_;
  std::optional<protocol::FrameDecoder> decoder_;
  std::optional<protocol::ScramServer> scram_;
  std::vector<std::string> heard_;
  Bytes session_bytes_;
  Bytes sent_bytes_;
  char status_ = 'I';
};

// A PostgreSQL server on a simulated network, as far as a session can tell.
//   Query  SELECT...: one row   BEGIN, COMMIT, ROLLBACK, DISCARD ALL: as they are   error: an ErrorResponse
//          wait: no answer      rows <n> <bytes>: that many rows of that size
class ScriptedServer {
 public:
  enum class Login { Trust, Cleartext, Scram };
  // Where a connection stops, without a word: it stays open and silent, or is closed.
  enum class Stop { Nowhere, AtConnect, InMiddleOfLogin, BeforeReady };
  enum class Manner { Silent, Closes };
  enum class Reset { Confirms, Fails, StaysSilent };

  ScriptedServer(SimNetwork& network, Address address);
  ScriptedServer(const ScriptedServer&) = delete;
  ScriptedServer& operator=(const ScriptedServer&) = delete;

  Login login = Login::Trust;
  Stop stop = Stop::Nowhere;
  Manner manner = Manner::Silent;
  Reset reset = Reset::Confirms;
  std::optional<std::string> refusal;  // SQLSTATE of a FATAL in answer to every start-up
  Bytes before_ready;                  // sent with the first ReadyForQuery, in front of it
  Bytes behind_ready;                  // sent with the first ReadyForQuery
  bool hold_cancels = false;           // takes CancelRequests, and does not close their connections
  std::map<std::string, protocol::ScramVerifier> verifiers;
  // In place of the answers of its own; false: answer as usual.
  std::function<bool(Backend&, char type, std::string_view text)> on_message;

  const Address& address() const noexcept { return address_; }
  void come_up();
  void go_down();  // refuses connections; those that are open go on
  void swallow();  // connections to it get no answer at all
  std::deque<Backend>& backends() noexcept { return backends_; }
  Backend& last();  // to have logged in
  std::size_t open_backends() const;
  // The process ids of the CancelRequests that came in.
  const std::vector<std::int32_t>& cancels() const noexcept { return cancels_; }

 private:
  friend class Backend;
  SimNetwork& network_;
  const Address address_;
  std::deque<Backend> backends_;
  std::vector<std::int32_t> cancels_;
};

}  // namespace sluice::fakes
