// A session in transaction mode: see TransactionSession.

#include <algorithm>
#include <utility>

#include <asio/async_result.hpp>
#include <asio/use_awaitable.hpp>

#include "router/cancel.h"
#include "router/classify.h"
#include "router/server_request.h"
#include "router/session.h"
#include "router/worker.h"

namespace sluice::router {
namespace {

// Another session's server may be the only one that is silent.
constexpr std::chrono::nanoseconds kReportPatience = std::chrono::seconds(1);

}  // namespace

namespace metric = telemetry::metric;

// Nothing but what a server reports of itself is needed to begin; where nobody knows it yet, a connection is
// opened, and waits for a transaction.
asio::awaitable<std::optional<protocol::ErrorFields>> Session::begin_transactions(
    ClientIdentity& identity, const Classified& classified, Clock::time_point give_up_at) {
  tag_.use = SlotUse::Transaction;
  std::vector<ServerRequest> ways =
      server_requests(*snapshot_, identity, kPrimary, classified.server_database, tag_, peer_);
  const Servers servers = classified.primary ? Servers::Primary : Servers::Replicas;
  const TransactionSession::Routing routing{classified.database->read_only,
                                            classified.database->read_your_writes};
  TransactionSession::Owner& owner = *this;
  transactions_ =
      std::make_unique<TransactionSession>(worker_, owner, tag_, budgets_, sizes_, servers, routing,
                                           snapshot_->database_label(classified.database), std::move(ways));
  if (!needs_server()) co_return std::nullopt;
  std::optional<protocol::ErrorFields> refusal;
  if (classified.primary) {
    refusal = co_await connect_primary(identity, classified.server_database, give_up_at);
  } else {
    refusal = co_await assign(identity, classified.server_database, give_up_at);
  }
  if (refusal) co_return refusal;
  if (server_ && wanted(*server_)) {
    transactions_->adopt(std::move(*server_));
  } else if (server_) {  // it is elsewhere by now, but tells as much
    transactions_->report().learn(server_->parameters);
  }
  server_.reset();
  give_slot_back();
  co_return std::nullopt;
}

// In transaction mode no server is needed once one of the pool has been heard.
bool Session::needs_server() const {
  return !transactions_ || !transactions_->has_greeting();
}

// In transaction mode: for others that log in at the same time.
asio::awaitable<void> Session::wait_for_report(Clock::time_point give_up_at) {
  if (!transactions_) co_return;
  const Clock::time_point now = Clock::now();
  // With as much time left to try for itself.
  co_await transactions_->report().wait(std::min(now + kReportPatience, now + (give_up_at - now) / 2));
}

void Session::begin_accounting(telemetry::ServerLabel server, telemetry::PoolLabel) {
  opened_ = true;
  worker_.metrics().count(metric::sessions_opened_total, tag_.priority, server);
}

void Session::end_for_want_of_server(protocol::ErrorFields why) {
  stop(std::move(why), telemetry::CloseReason::ServerDisconnect);
}

void Session::end_for_unread_notifications(protocol::ErrorFields why) {
  stop(std::move(why), telemetry::CloseReason::UnreadNotifications);
}

asio::awaitable<RelayEnd> Session::relay_transactions(Bytes unread) {
  TransactionRelay& relay = transactions_->make_relay(client_, *tracker_, meter_);
  const RelayEnd end = co_await asio::async_initiate<const asio::use_awaitable_t<>, void(RelayEnd)>(
      [this, &relay](auto handler, const Bytes& first) {
        // std::function wants a copyable callable.
        auto shared_handler = std::make_shared<decltype(handler)>(std::move(handler));
        relay.start(first, [shared_handler](RelayEnd e) { std::move (*shared_handler)(e); });
        if (stop_reason_) relay.stop();  // it came while the client was greeted
      },
      asio::use_awaitable, unread);
  unsent_ = relay.take_unsent();
  transactions_->end_relay();
  co_return end;
}

// Of the query that runs now, on the server that runs it, which goes to nobody else before the cancel has
// arrived; or of one that waits for a server and never gets there.
asio::awaitable<void> Session::cancel_transaction() {
  TransactionRelay* const relay = transactions_->relay();
  if (relay != nullptr && relay->waiting_since()) {
    relay->cancel_waiting();
    worker_.metrics().count(metric::cancels_total, telemetry::CancelResult::Forwarded);
    co_return;
  }
  PooledServer* const server = transactions_->server();
  if (server == nullptr || server->connection().secret.empty() || !tracker_->owes_answer()) {
    worker_.metrics().count(metric::cancels_total, telemetry::CancelResult::NothingRunning);
    co_return;
  }
  ++cancels_in_flight_;
  server->cancel_begins();
  CancelTarget target;
  target.server = server->connection().server;
  target.process_id = server->connection().process_id;
  target.secret = server->connection().secret;
  const SnapshotPtr snapshot = worker_.snapshot();
  const auto sent =
      co_await send_cancel(snapshot, std::move(target), snapshot->options().cancel_wait_timeout);
  worker_.metrics().count(metric::cancels_total,
                          sent ? telemetry::CancelResult::Forwarded : telemetry::CancelResult::Failed);
  // It may still be on its way, and must not find the server with its next client.
  if (!sent) worker_.transaction_pools().retire(*server);
  server->cancel_ends();
  --cancels_in_flight_;
}

}  // namespace sluice::router
