// How a session gets its server connection: the policy's choice, retries, and the greeting to the client.

#include <algorithm>
#include <array>
#include <utility>

#include <asio/experimental/as_tuple.hpp>
#include <asio/steady_timer.hpp>
#include <asio/use_awaitable.hpp>

#include "net/deadline.h"
#include "protocol/backend_messages.h"
#include "router/policy_counts.h"
#include "router/random.h"
#include "router/recycle.h"
#include "router/refusals.h"
#include "router/refused_logins.h"
#include "router/server_request.h"
#include "router/session.h"
#include "router/worker.h"
#include "telemetry/log.h"

namespace sluice::router {
namespace {

using namespace std::chrono_literals;
using protocol::ErrorFields;
namespace metric = telemetry::metric;

// How often a session that waits for a live replica asks again.
constexpr auto kNoReplicaRetry = 100ms;
// How often a client that waits is looked at, whether it is still there; and how long it may take to be told
// so.
constexpr auto kClientLook = 1s;
constexpr auto kNoticeTime = 5s;
// A protocol 3.0 client reads exactly this many secret bytes.
constexpr std::size_t kShortSecretBytes = 4;
constexpr std::size_t kLongSecretBytes = 32;

// Nobody hears it.
ErrorFields client_left() {
  return {"FATAL", "08006", "the client is gone", "", ""};
}

telemetry::ConnectFailure connect_failure(ServerFailure::Kind kind) {
  switch (kind) {
    case ServerFailure::Kind::Unreachable:
      return telemetry::ConnectFailure::Refused;
    case ServerFailure::Kind::Refused:
    case ServerFailure::Kind::Unsupported:
    case ServerFailure::Kind::Unanswerable:
      return telemetry::ConnectFailure::Login;
    case ServerFailure::Kind::NotReady:
      return telemetry::ConnectFailure::Other;
  }
  return telemetry::ConnectFailure::Other;
}

}  // namespace

// Waits while the database is paused.
asio::awaitable<std::optional<ErrorFields>> Session::pass_gate(Clock::time_point give_up_at) {
  while (worker_.shared().gates.paused(tag_.database)) {
    if (stop_reason_) co_return *stop_reason_;
    if (Clock::now() >= give_up_at) co_return waited_too_long();
    co_await worker_.at_gate().wait_until(give_up_at);
  }
  past_gate_ = true;
  co_return std::nullopt;
}

void Session::give_slot_back() {
  if (!granted_) return;
  const Granted slot = *std::exchange(granted_, std::nullopt);
  worker_.shared().admission.close(slot);
}

// Nobody reads from the client while it waits, so its end has to be looked for. One that has sent its first
// query already counts as there.
bool Session::client_gone() {
  if (client_.tls() != nullptr) return client_.hung_up();
  std::array<std::byte, 1> first{};
  const net::IoStatus status = client_.try_peek(first).status;
  return status == net::IoStatus::Eof || status == net::IoStatus::Failed;
}

// PgBouncer's text. False when the client cannot be told.
asio::awaitable<bool> Session::tell_queued(ClientIdentity& identity) {
  Bytes message = std::exchange(identity.output, {});
  protocol::append_notice_response(message, client_queued());
  net::Deadline deadline(client_.get_executor(), kNoticeTime, [this] { client_.close(); });
  const auto sent = co_await client_.write_all(message);
  co_return sent.has_value();
}

asio::awaitable<std::optional<ErrorFields>> Session::wait_for_slot(SlotWait& waiter, ClientIdentity& identity,
                                                                   Clock::time_point give_up_at) {
  Admission& admission = worker_.shared().admission;
  const std::chrono::seconds notify = snapshot_->options().query_wait_notify;
  auto notify_at = notify.count() > 0 ? Clock::now() + notify : Clock::time_point::max();
  bool gone = false;
  worker_.metrics().change(metric::sessions_waiting, 1, tag_.priority);
  slot_wait_ = &waiter;
  while (!waiter.has_slot() && needs_server() && !stop_reason_ && !gone && Clock::now() < give_up_at) {
    const Clock::time_point until = std::min({give_up_at, notify_at, Clock::now() + kClientLook});
    co_await waiter.wait(until);
    gone = client_gone();
    if (waiter.has_slot() || gone || Clock::now() < notify_at) continue;
    notify_at = Clock::time_point::max();
    const bool told = co_await tell_queued(identity);
    gone = !told;
  }
  slot_wait_ = nullptr;
  worker_.metrics().change(metric::sessions_waiting, -1, tag_.priority);
  const std::string limit = waiter.has_slot() ? "" : admission.waits_for(waiter);
  const bool withdrawn = !waiter.has_slot() && admission.withdraw(waiter);
  if (!withdrawn) {
    Granted slot = co_await waiter.arrival();
    granted_ = std::move(slot);
  }
  if (gone || stop_reason_) {
    give_slot_back();
    reject_reason_ = gone ? telemetry::RejectReason::ClientDisconnect : telemetry::RejectReason::Shutdown;
    co_return stop_reason_ ? *stop_reason_ : client_left();
  }
  if (!withdrawn || !needs_server()) co_return std::nullopt;
  reject_reason_ = telemetry::RejectReason::QueryWaitTimeout;
  co_return waited_in_queue(limit);
}

void Session::count_over_budget(policy::BudgetId budget, telemetry::BudgetVerdict verdict) {
  worker_.metrics().count(metric::budget_refusals_total, telemetry::BudgetLabel(budget.value()), verdict);
}

// Sets granted_, or says why there is no slot for the session; neither where it needs none any more.
asio::awaitable<std::optional<ErrorFields>> Session::take_slot(ClientIdentity& identity, Servers servers,
                                                               policy::ReplicaSet failed,
                                                               std::optional<policy::QueuePlace> place,
                                                               Clock::time_point give_up_at) {
  SlotWait waiter(client_.get_executor());
  reject_reason_.reset();
  Admission::Answer answer = worker_.shared().admission.ask(tag_, waiter, failed, servers, place);
  if (const auto* rejected = std::get_if<Admission::Rejected>(&answer)) {
    if (rejected->limit.empty()) {
      reject_reason_ = telemetry::RejectReason::NoReplica;
      co_return no_replica();
    }
    if (rejected->budget) count_over_budget(*rejected->budget, telemetry::BudgetVerdict::Refused);
    reject_reason_ = reason_of_wait_limit(rejected->limit);
    log::warning("session refused", {{"session", id().value()},
                                     {"limit", rejected->limit},
                                     {"user", tag_.user},
                                     {"database", tag_.database}});
    co_return too_many_wait(rejected->limit);
  }
  if (auto* granted = std::get_if<Granted>(&answer)) {
    granted_ = std::move(*granted);
  } else {
    if (const auto beyond = std::get<Admission::Queued>(answer).beyond)
      count_over_budget(*beyond, telemetry::BudgetVerdict::WouldBeRefused);
    std::optional<ErrorFields> refusal = co_await wait_for_slot(waiter, identity, give_up_at);
    if (refusal || !granted_) co_return refusal;
  }
  worker_.metrics().record(metric::wait_seconds, granted_->waited, tag_.priority, pool_label());
  meter_.waited(granted_->waited);
  co_return std::nullopt;
}

// Asks the policy until a replica has taken the session, none is left, or the failure is the session's own.
asio::awaitable<std::optional<ErrorFields>> Session::assign(ClientIdentity& identity,
                                                            const std::string& database,
                                                            Clock::time_point give_up_at) {
  const config::Options& options = snapshot_->options();
  const auto wait_until =
      Clock::now() + (options.no_replica == config::NoReplica::Wait ? options.no_replica_wait : 0s);
  std::vector<policy::ReplicaId> failed;
  std::optional<policy::QueuePlace> place;  // of a slot that it could not use
  ErrorFields last_error = no_replica();
  for (;;) {
    co_await wait_for_report(give_up_at);
    if (!needs_server()) co_return std::nullopt;
    if (stop_reason_) co_return *stop_reason_;
    if (Clock::now() >= give_up_at) co_return waited_too_long();
    std::optional<ErrorFields> refusal =
        co_await take_slot(identity, Servers::Replicas, failed, place, give_up_at);
    if (refusal && reject_reason_ == telemetry::RejectReason::NoReplica) {
      worker_.metrics().count(metric::decisions_total, tag_.priority, policy::Outcome::Refused);
      if (!failed.empty()) reject_reason_.reset();  // what the last one said is the reason
      if (Clock::now() >= wait_until) co_return last_error;
      failed.clear();
      asio::steady_timer timer(client_.get_executor(), kNoReplicaRetry);
      co_await timer.async_wait(asio::experimental::as_tuple(asio::use_awaitable));
      continue;
    }
    if (refusal || !needs_server()) co_return refusal;
    worker_.metrics().count(metric::decisions_total, tag_.priority, granted_->outcome);
    count_size_use(worker_.metrics(), worker_.snapshot()->options(), tag_.priority, *granted_);
    log::debug("assigned", {{"session", id().value()},
                            {"class", snapshot_->class_name(tag_.priority)},
                            {"replica", worker_.snapshot()->server_name(granted_->server())},
                            {"outcome", policy::outcome_name(granted_->outcome)},
                            {"reason", policy::outcome_reason(granted_->outcome)}});
    count_changes(worker_.metrics(), granted_->changes, tag_.priority);
    const std::optional<ServerFailure> failure =
        co_await connect(identity, granted_->server(), database, give_up_at);
    if (!failure) co_return std::nullopt;
    failed.push_back(granted_->replica);
    place = granted_->place;
    give_slot_back();
    last_error = failure->error;
    // What one server refuses for the session's own sake, the next would refuse too.
    if (failure->kind != ServerFailure::Kind::Unreachable && failure->kind != ServerFailure::Kind::NotReady)
      co_return last_error;
  }
}

// Whichever server is the primary by now. One that is not known, or does not answer, is waited for as
// replicas are.
asio::awaitable<std::optional<ErrorFields>> Session::connect_primary(ClientIdentity& identity,
                                                                     const std::string& database,
                                                                     Clock::time_point give_up_at) {
  const config::Options& options = snapshot_->options();
  const auto wait_until =
      Clock::now() + (options.no_replica == config::NoReplica::Wait ? options.no_replica_wait : 0s);
  std::optional<policy::QueuePlace> place;
  const auto target_now = [&]() -> std::optional<net::ConnectTarget> {
    const auto& servers = worker_.snapshot()->servers;
    const auto primary = servers.find(kPrimary);
    return primary == servers.end() ? std::nullopt : std::optional(primary->second.target);
  };
  for (;;) {
    co_await wait_for_report(give_up_at);
    if (!needs_server()) co_return std::nullopt;
    if (stop_reason_) co_return *stop_reason_;
    if (Clock::now() >= give_up_at) co_return waited_too_long();
    ErrorFields error = no_primary(*worker_.snapshot()->config);
    if (const auto target = target_now()) {
      std::optional<ErrorFields> refusal =
          co_await take_slot(identity, Servers::Primary, {}, place, give_up_at);
      if (refusal || !needs_server()) co_return refusal;
      std::optional<ServerFailure> failure = co_await connect(identity, kPrimary, database, give_up_at);
      if (!failure && target_now() == target) co_return std::nullopt;
      place = granted_->place;
      give_slot_back();
      // It was the primary when the connection was begun.
      if (!failure) {
        server_.reset();
        continue;
      }
      if (failure->kind == ServerFailure::Kind::Unreachable && Clock::now() >= give_up_at)
        co_return waited_too_long();
      error = std::move(failure->error);
      if (failure->kind != ServerFailure::Kind::Unreachable && failure->kind != ServerFailure::Kind::NotReady)
        co_return error;
    }
    if (Clock::now() >= wait_until || !config::has_primary(*worker_.snapshot()->config)) co_return error;
    asio::steady_timer timer(client_.get_executor(), kNoReplicaRetry);
    co_await timer.async_wait(asio::experimental::as_tuple(asio::use_awaitable));
  }
}

// Takes an idle connection, or opens one, to that server.
asio::awaitable<std::optional<ServerFailure>> Session::connect(const ClientIdentity& identity,
                                                               ServerId server, const std::string& database,
                                                               Clock::time_point give_up_at) {
  Shared& shared = worker_.shared();
  std::optional<ServerReport::Attempt> attempt;
  if (transactions_) attempt.emplace(transactions_->report());
  const telemetry::ServerLabel label = server_label();
  // Servers are those of now: one that was found while the session waited is as good as any.
  server_snapshot_ = worker_.snapshot();
  const SnapshotPtr current = server_snapshot_;
  std::vector<ServerRequest> requests = server_requests(*current, identity, server, database, tag_, peer_);
  const bool reuse =
      snapshot_->options().server_reuse && identity.startup.replication == protocol::Replication::Off;
  const auto take_idle = [&](const std::string& key) -> std::optional<ServerConnection> {
    while (std::optional<ServerPool::Idle> idle = shared.pool.take(key)) {
      Result<net::Stream> stream = net::Stream::adopt(client_.get_executor(), std::move(idle->stream));
      if (!stream) continue;
      ServerConnection connection{*std::move(stream),
                                  server,
                                  key,
                                  idle->process_id,
                                  std::move(idle->secret),
                                  std::move(idle->parameters),
                                  std::move(idle->user),
                                  std::move(idle->database),
                                  idle->opened_at};
      if (shared.gates.outdated(tag_.database, connection.opened_at)) continue;
      if (good_to_reuse(connection)) return connection;
    }
    return std::nullopt;
  };
  std::optional<ServerFailure> failure;
  for (ServerRequest& request : requests) {
    std::string key = reuse ? pool_key(*current, request) : std::string();
    // One way in after the other: what is kept of a later one must not win over a login of the client's own.
    if (std::optional<ServerConnection> kept = reuse ? take_idle(key) : std::nullopt) {
      server_ = std::make_unique<ServerConnection>(*std::move(kept));
      worker_.metrics().count(metric::server_connections_reused_total, label);
      co_return std::nullopt;
    }
    const Clock::time_point began = Clock::now();
    auto opened = co_await log_in(shared.refused_logins, current, std::move(request), give_up_at);
    if (auto* connection = std::get_if<ServerConnection>(&opened)) {
      connection->pool_key = std::move(key);
      server_ = std::make_unique<ServerConnection>(std::move(*connection));
      worker_.metrics().count(metric::server_connections_opened_total, label);
      worker_.metrics().record(metric::server_connect_seconds, Clock::now() - began, label);
      co_return std::nullopt;
    }
    failure = std::get<ServerFailure>(std::move(opened));
    worker_.metrics().count(metric::server_connection_failures_total, label, connect_failure(failure->kind));
    log::warning("server connection failed", {{"session", id().value()},
                                              {"server", current->server_name(server)},
                                              {"user", tag_.user},
                                              {"reason", failure->reason}});
    // One that was not given its whole time has not failed.
    if (failure->kind == ServerFailure::Kind::Unreachable && Clock::now() < give_up_at)
      shared.server_failed(server, failure->reason);
    if (failure->kind == ServerFailure::Kind::Refused && failure->error.sqlstate == "28P01")
      shared.directory.forget(tag_.user);
    // Another way in is for a server that wants a proof which this one has not; a refusal is the user's own.
    if (failure->kind != ServerFailure::Kind::Unanswerable) break;
  }
  co_return failure;
}

// The rest of the client's start-up: what its server reports of itself, our own cancel key, and
// ReadyForQuery.
asio::awaitable<bool> Session::greet(ClientIdentity identity) {
  process_id_ = worker_.give_process_id(*this);
  secret_.resize(identity.startup.minor_granted >= 2 ? kLongSecretBytes : kShortSecretBytes);
  random_bytes(secret_);
  Bytes message = std::move(identity.output);
  if (transactions_) {
    transactions_->greeting().append_messages(message);
  } else {
    server_->parameters->append_messages(message);
    append(message, std::exchange(server_->notices, {}));
  }
  protocol::append_backend_key_data(message, process_id_, secret_);
  protocol::append_ready_for_query(message, 'I');
  const net::IoOutcome sent = client_.try_write(message);
  if (sent.status == net::IoStatus::Ok && sent.bytes == message.size()) co_return true;
  if (sent.status == net::IoStatus::Failed) co_return false;
  net::Deadline deadline(client_.get_executor(), snapshot_->options().client_login_timeout,
                         [this] { client_.close(); });
  const auto rest = co_await client_.write_all(ByteView(message).subspan(sent.bytes));
  co_return rest.has_value();
}

}  // namespace sluice::router
