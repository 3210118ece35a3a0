// How a session ends: what the client is told, and what becomes of its server connection.

#include <utility>

#include <asio/experimental/as_tuple.hpp>
#include <asio/steady_timer.hpp>
#include <asio/use_awaitable.hpp>

#include "net/deadline.h"
#include "protocol/backend_messages.h"
#include "router/cancel.h"
#include "router/recycle.h"
#include "router/session.h"
#include "router/worker.h"
#include "telemetry/log.h"

namespace sluice::router {
namespace {

using namespace std::chrono_literals;
using protocol::ErrorFields;

constexpr auto kCancelPoll = 5ms;
// How long a client may take to accept its last message.
constexpr auto kFarewell = 5s;

ErrorFields server_lost(const protocol::SessionTracker& tracker) {
  if (tracker.backend_malformed())
    return {"FATAL", "08P01", "the server sent bytes that are not the PostgreSQL protocol", "",
            "Connect again; the router assigns another server."};
  if (tracker.owes_answer())
    return {"FATAL", "08006", "the server closed the connection while a query was running",
            "Whether the query took effect is not known.",
            "Connect again; the router assigns another server."};
  return {"FATAL", "57P01", "the server closed the connection of this session", "",
          "Connect again; the router assigns another server."};
}

std::string_view reason_of(RelayEnd end) {
  switch (end) {
    case RelayEnd::ClientTerminated:
      return "terminate";
    case RelayEnd::ClientClosed:
      return "client closed";
    case RelayEnd::ClientFailed:
      return "client lost";
    case RelayEnd::ServerClosed:
      return "server lost";
    case RelayEnd::ServerJudged:
      return "malformed message";
    case RelayEnd::Stopped:
      return "stopped";
  }
  return "";
}

}  // namespace

// The client's last bytes, then the end.
asio::awaitable<void> Session::tell(Bytes message) {
  net::Deadline deadline(client_.get_executor(), kFarewell, [this] { client_.close(); });
  (void)co_await client_.write_all(message);
  client_.close();
}

// Tells the client what it is owed. The server's own FATAL, relayed already, needs no second one; and in the
// middle of a message nothing can be said any more.
asio::awaitable<void> Session::finish(RelayEnd end) {
  std::optional<ErrorFields> farewell;
  if (end == RelayEnd::ServerClosed && !tracker_->fatal_seen()) farewell = server_lost(*tracker_);
  if (end == RelayEnd::Stopped) {
    if (stop_reason_) farewell = *stop_reason_;
    // A server that is gone took no query with it from a session that was idle.
    if (farewell && farewell->sqlstate == "08006" && !tracker_->owes_answer()) farewell->sqlstate = "57P01";
  }
  Bytes message = std::move(unsent_);
  if (end == RelayEnd::ClientFailed) co_return;
  if (farewell && tracker_->backend_at_boundary()) protocol::append_error_response(message, *farewell);
  // Ended by us in the middle of a message, the client can make no use of a little more of it.
  if (end == RelayEnd::Stopped && !tracker_->backend_at_boundary()) co_return;
  if (!message.empty()) co_await tell(std::move(message));
}

// The server connection goes back to the pool when it is at rest and a reset leaves it clean; else it is
// closed, and a query that nobody waits for any more is cancelled first.
asio::awaitable<void> Session::give_server_back(RelayEnd end) {
  // A cancel on its way must not find the server with its next client.
  while (cancels_in_flight_ > 0) {
    asio::steady_timer timer(client_.get_executor(), kCancelPoll);
    co_await timer.async_wait(asio::experimental::as_tuple(asio::use_awaitable));
  }
  if (!server_) co_return;
  ServerConnection connection = std::move(*server_);
  server_.reset();
  const telemetry::ServerLabel label = server_label();
  if (end == RelayEnd::ServerClosed || end == RelayEnd::ServerJudged) co_return;
  if (tracker_ && tracker_->owes_answer() && !connection.secret.empty()) {
    // A named target: GCC 12 destroys the strings of a braced temporary twice.
    CancelTarget target{connection.server, connection.process_id, connection.secret};
    (void)co_await send_cancel(server_snapshot_, std::move(target), snapshot_->options().cancel_wait_timeout);
  }
  const bool at_rest = !tracker_ || tracker_->ready_for_reset();
  if (!at_rest || connection.pool_key.empty() || !wanted(connection)) co_return;
  const char status = tracker_ ? tracker_->transaction_status() : 'I';
  const std::uint32_t doubtful_syncs = tracker_ ? tracker_->doubtful_syncs() : 0;
  if (const auto problem = co_await reset_server(snapshot_, connection, status, doubtful_syncs)) {
    worker_.metrics().count(telemetry::metric::server_resets_total, label, telemetry::ResetResult::Failed);
    log::info("server connection closed", {{"session", id().value()},
                                           {"server", server_snapshot_->server_name(connection.server)},
                                           {"reason", *problem}});
    co_return;
  }
  worker_.metrics().count(telemetry::metric::server_resets_total, label, telemetry::ResetResult::Clean);
  if (!wanted(connection)) co_return;
  worker_.shared().pool.give(std::move(connection), snapshot_->pool_limits, Clock::now());
}

// Whether the connection may serve another session, as things are now: not where its server is draining,
// removed or has moved, where RECONNECT or PAUSE has come since, nor where the router is about to end.
bool Session::wanted(const ServerConnection& connection) const {
  const Shared& shared = worker_.shared();
  const ServerId server = connection.server;
  if (shared.gates.outdated(tag_.database, connection.opened_at) || shared.gates.paused(tag_.database))
    return false;
  if (shared.shutting_down.load(std::memory_order_relaxed)) return false;
  if (server != kPrimary && shared.admission.draining(policy::ReplicaId(server.value()))) return false;
  const auto& now = worker_.snapshot()->servers;
  const auto there = now.find(server);
  const auto before = server_snapshot_->servers.find(server);
  return there != now.end() && before != server_snapshot_->servers.end() &&
         there->second.target == before->second.target;
}

bool Session::close_needed() const {
  if (server_) return !wanted(*server_);
  const ServerConnection* const pooled = connection();
  return pooled != nullptr && worker_.shared().gates.outdated(tag_.database, pooled->opened_at);
}

void Session::log_end(RelayEnd end) {
  if (!snapshot_->options().log_disconnections) return;
  meter_.flush();
  const SessionMeter::Totals& totals = meter_.totals();
  log::info("session closed",
            {{"session", id().value()},
             {"user", tag_.user},
             {"database", tag_.database},
             {"class", snapshot_->class_name(tag_.priority)},
             {"host", tag_.host},
             {"peer", net::to_string(peer_)},
             {"server", server_name()},
             {"reason", stop_reason_ ? std::string_view(stop_reason_->message) : reason_of(end)},
             {"transactions", totals.transactions},
             {"queries", totals.queries},
             {"errors", totals.errors},
             {"bytes_in", totals.client_bytes},
             {"bytes_out", totals.server_bytes},
             {"start_seconds", start_},
             {"wait_seconds", totals.waiting},
             {"service_seconds", totals.service},
             {"seconds", std::chrono::system_clock::now() - connected_at_}});
}

}  // namespace sluice::router
