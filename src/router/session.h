#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <asio/awaitable.hpp>

#include "admin/router_view.h"
#include "net/socket_address.h"
#include "net/stream.h"
#include "net/tcp_round_trip.h"
#include "protocol/error_response.h"
#include "protocol/session_tracker.h"
#include "router/admission.h"
#include "router/budget_match.h"
#include "router/client_login.h"
#include "router/ids.h"
#include "router/relay.h"
#include "router/server_connection.h"
#include "router/server_login.h"
#include "router/session_meter.h"
#include "router/size_learner.h"
#include "router/slot_wait.h"
#include "router/snapshot.h"
#include "router/transaction_session.h"

namespace sluice::router {

class Worker;
struct Classified;

// One client connection, from accept to its end: start-up and authentication, then a cancel, the console, or
// a session on a server (classified, admitted, relayed, its server connection reset and kept). Lives and dies
// on one thread, in the coroutine frame of run(). In transaction mode it has no server connection of its own,
// but a TransactionSession.
class Session final : private TransactionSession::Owner {
 public:
  using Clock = std::chrono::steady_clock;

  Session(Worker& worker, net::Stream client, std::string listener);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session();

  asio::awaitable<void> run();

  // Ends the session: the client is told `why` if it is between two messages and listening.
  void stop(protocol::ErrorFields why, telemetry::CloseReason cause);
  // About once a second: limits on time, and buffers of a session that went quiet.
  void tick(Clock::time_point now);

  SessionId id() const noexcept { return tag_.id; }
  const SessionTag& tag() const noexcept { return tag_; }
  // What the kernel knows of the way to the client, if it has measured anything since the last call. A system
  // call.
  std::optional<net::TcpRoundTrip> take_round_trip();
  std::chrono::system_clock::duration age() const { return std::chrono::system_clock::now() - connected_at_; }
  // Has passed the gate of its database and not yet given up its server, or the right to one.
  bool past_gate() const noexcept {
    return past_gate_ && slot_wait_ == nullptr &&
           (!transactions_ || server_ || granted_ || transactions_->past_gate());
  }
  // Its server connection will not serve another client, as things are now (RECONNECT, RELOAD, DRAIN).
  bool close_needed() const;
  // Nothing of the client's is under way: it can be ended without harm.
  bool at_rest() const;
  bool on_server(ServerId server) const noexcept;
  bool console() const noexcept { return phase_ == Phase::Console; }
  bool logged_in() const noexcept { return phase_ != Phase::LoggingIn; }
  admin::ConnectionRow client_row(admin::WallTime now) const;
  std::optional<admin::ConnectionRow> server_row(admin::WallTime now) const;

  // Of the BackendKeyData that its client has; 0 before.
  std::int32_t process_id() const noexcept { return process_id_; }
  // In constant time.
  bool has_key(ByteView secret) const noexcept;
  // Cancels the running query if there is one. The session's end waits for it.
  asio::awaitable<void> cancel();

 private:
  enum class Phase { LoggingIn, Console, Waiting, Relaying, Ending };

  asio::awaitable<std::optional<Bytes>> begin();
  asio::awaitable<void> deliver(protocol::CancelRequest request);
  asio::awaitable<std::optional<protocol::ErrorFields>> place(ClientIdentity& identity);
  std::optional<protocol::ErrorFields> take_size(const ClientIdentity& identity);
  asio::awaitable<std::optional<protocol::ErrorFields>> pass_gate(Clock::time_point give_up_at);
  asio::awaitable<void> leave(RelayEnd end);
  // session_transactions.cc
  asio::awaitable<std::optional<protocol::ErrorFields>> begin_transactions(ClientIdentity& identity,
                                                                           const Classified& classified,
                                                                           Clock::time_point give_up_at);
  void begin_accounting(telemetry::ServerLabel server, telemetry::PoolLabel pool) override;
  void end_for_want_of_server(protocol::ErrorFields why) override;
  void end_for_unread_notifications(protocol::ErrorFields why) override;
  bool needs_server() const;
  asio::awaitable<void> wait_for_report(Clock::time_point give_up_at);
  asio::awaitable<RelayEnd> relay_transactions(Bytes unread);
  asio::awaitable<void> cancel_transaction();
  // session_assign.cc
  asio::awaitable<std::optional<protocol::ErrorFields>> take_slot(ClientIdentity& identity, Servers servers,
                                                                  policy::ReplicaSet failed,
                                                                  std::optional<policy::QueuePlace> place,
                                                                  Clock::time_point give_up_at);
  asio::awaitable<std::optional<protocol::ErrorFields>> wait_for_slot(SlotWait& waiter,
                                                                      ClientIdentity& identity,
                                                                      Clock::time_point give_up_at);
  asio::awaitable<bool> tell_queued(ClientIdentity& identity);
  void give_slot_back();
  bool client_gone();
  void count_over_budget(policy::BudgetId budget, telemetry::BudgetVerdict verdict);
  asio::awaitable<std::optional<protocol::ErrorFields>> assign(ClientIdentity& identity,
                                                               const std::string& database,
                                                               Clock::time_point give_up_at);
  asio::awaitable<std::optional<protocol::ErrorFields>> connect_primary(ClientIdentity& identity,
                                                                        const std::string& database,
                                                                        Clock::time_point give_up_at);
  asio::awaitable<std::optional<ServerFailure>> connect(const ClientIdentity& identity, ServerId server,
                                                        const std::string& database,
                                                        Clock::time_point give_up_at);
  asio::awaitable<bool> greet(ClientIdentity identity);
  // session_end.cc
  asio::awaitable<void> finish(RelayEnd end);
  asio::awaitable<void> give_server_back(RelayEnd end);
  bool wanted(const ServerConnection& connection) const;
  asio::awaitable<void> tell(Bytes message);
  void log_end(RelayEnd end);

  asio::awaitable<RelayEnd> relay(Bytes unread);
  Clock::time_point last_activity() const noexcept;
  std::optional<Clock::time_point> transaction_since() const noexcept;
  void enforce_time_limits(Clock::time_point now);
  const ServerConnection* connection() const noexcept;
  std::string server_name() const;
  bool on_replica() const noexcept { return granted_ && granted_->servers == Servers::Replicas; }
  telemetry::ServerLabel server_label() const;
  telemetry::PoolLabel pool_label() const;
  void begin_accounting(telemetry::DatabaseLabel database);
  void end_accounting(RelayEnd end);
  telemetry::CloseReason close_reason(RelayEnd end) const;
  void reject(telemetry::RejectReason reason);
  void log_begin();

  Worker& worker_;
  SnapshotPtr snapshot_;
  SnapshotPtr server_snapshot_;  // in which its server connection was found
  net::Stream client_;
  net::SocketAddress peer_;  // the client's, also behind a proxy
  bool proxied_ = false;     // so the socket's other end is the proxy
  std::string listener_;
  SessionTag tag_;
  std::string application_name_;
  Phase phase_ = Phase::LoggingIn;
  bool entered_ = false;  // counted by Admission::enter
  bool past_gate_ = false;
  bool accounted_ = false;  // counted in the metrics
  bool opened_ = false;     // counted as one that was given a server
  std::optional<Granted> granted_;
  BudgetMatch budgets_;  // by snapshot_
  SizeWatch sizes_;
  SlotWait* slot_wait_ = nullptr;  // while it waits in the queue
  std::optional<telemetry::RejectReason> reject_reason_;
  std::unique_ptr<ServerConnection> server_;  // this and others apart: thousands of sessions lack them
  std::optional<protocol::SessionTracker> tracker_;
  std::unique_ptr<Relay> relay_;
  std::unique_ptr<TransactionSession> transactions_;
  Bytes unsent_;  // of the server's bytes, when the relay ended
  SessionMeter meter_;
  std::unique_ptr<const protocol::ErrorFields> stop_reason_;
  telemetry::CloseReason stop_cause_ = telemetry::CloseReason::Internal;
  std::int32_t process_id_ = 0;
  Bytes secret_;
  int cancels_in_flight_ = 0;
  std::uint32_t acknowledged_ = 0;  // as of the last take_round_trip()
  admin::WallTime connected_at_;
  std::chrono::system_clock::duration start_{0};  // from there until it had its server
  Clock::time_point began_at_ = Clock::now();
};

}  // namespace sluice::router
