#include "router/session.h"

#include <functional>
#include <utility>

#include <asio/async_result.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>
#include <openssl/crypto.h>

#include "config/match.h"
#include "pgclient/call_on.h"
#include "router/cancel.h"
#include "router/classify.h"
#include "router/console_session.h"
#include "router/policy_counts.h"
#include "router/worker.h"
#include "telemetry/log.h"

namespace sluice::router {
namespace {

using protocol::ErrorFields;
namespace metric = telemetry::metric;

ErrorFields fatal(std::string sqlstate, std::string message) {
  return {"FATAL", std::move(sqlstate), std::move(message), "", ""};
}

// PgBouncer's texts, which its users' alerts look for, with PostgreSQL's SQLSTATE.
ErrorFields limit_reached(const std::string& limit) {
  const std::string what =
      limit == "max_client_conn" ? "no more connections allowed" : "client connections exceeded";
  return {"FATAL", "53300", what + " (" + limit + ")", "",
          "Close sessions, or raise the limit in the router's configuration."};
}

telemetry::RejectReason reason_of_limit(const std::string& limit) {
  if (limit == "max_client_conn") return telemetry::RejectReason::MaxClientConn;
  if (limit == "max_user_client_connections") return telemetry::RejectReason::MaxUserConnections;
  if (limit == "max_db_client_connections") return telemetry::RejectReason::MaxDatabaseConnections;
  if (limit == "max_host_client_connections") return telemetry::RejectReason::MaxHostConnections;
  return telemetry::RejectReason::MaxClassSessions;
}

// A database's own limit stands in for the general one, and is not raised by raising that.
std::string as_configured(std::string limit, const config::Config& config, const std::string& database) {
  if (limit != "max_db_client_connections") return limit;
  const config::Database* entry = config::find_database(config, database);
  return entry != nullptr && entry->max_sessions > 0 ? "max_sessions of database " + entry->name : limit;
}

}  // namespace

Session::Session(Worker& worker, net::Stream client, std::string listener)
    : worker_(worker),
      snapshot_(worker.snapshot()),
      client_(std::move(client)),
      peer_(net::peer_address(client_.native_handle())),
      listener_(std::move(listener)),
      sizes_(worker.sizes(), tag_.user, tag_.database, application_name_),
      meter_(worker.metrics()),
      connected_at_(std::chrono::system_clock::now()) {
  tag_.id = SessionId(worker_.shared().next_session.fetch_add(1, std::memory_order_relaxed));
  worker_.add(*this);
  worker_.metrics().count(metric::client_connections_total);
  worker_.metrics().change(metric::client_connections, 1);
}

Session::~Session() {
  SLUICE_ASSERT(cancels_in_flight_ == 0);
  worker_.remove(*this);
  worker_.metrics().change(metric::client_connections, -1);
}

asio::awaitable<void> Session::run() {
  co_await asio::this_coro::throw_if_cancelled(false);
  // What only the beginning needs lives in frames of its own, which are gone while the session is relayed.
  std::optional<Bytes> unread = co_await begin();
  RelayEnd end = RelayEnd::ClientFailed;
  if (unread) {
    end = co_await relay(*std::move(unread));
    co_await finish(end);
    log_end(end);
  }
  phase_ = Phase::Ending;
  client_.close();
  co_await leave(end);
}

// The way to a relayed session: the bytes that the client sent behind its start-up. nullopt when it does not
// come to that; the client has then been told.
asio::awaitable<std::optional<Bytes>> Session::begin() {
  const Takes takes = listener_ == Worker::kBehind ? Takes::CancelsAlone : Takes::Everything;
  Arrived arrived = co_await receive_client(worker_.shared(), worker_.metrics(), snapshot_, client_, peer_,
                                            listener_, takes);
  if (stop_reason_) co_return std::nullopt;
  peer_ = std::move(arrived.origin.address);
  proxied_ = arrived.origin.proxied;
  if (arrived.cancel) {
    co_await deliver(*std::move(arrived.cancel));
    co_return std::nullopt;
  }
  if (!arrived.client) co_return std::nullopt;
  ClientIdentity& identity = *arrived.client;
  tag_.user = identity.startup.user;
  tag_.database = identity.startup.database;
  application_name_ = parameter(identity.startup, "application_name");
  if (console_database(tag_.database)) {
    phase_ = Phase::Console;
    co_await run_console(worker_, snapshot_, client_, std::move(identity));
    co_return std::nullopt;
  }
  phase_ = Phase::Waiting;
  std::optional<ErrorFields> refusal = co_await place(identity);
  if (!refusal && stop_reason_) refusal = *stop_reason_;
  if (refusal) {
    Bytes message = std::move(identity.output);
    protocol::append_error_response(message, *refusal);
    co_await tell(std::move(message));
    co_return std::nullopt;
  }
  Bytes unread = std::move(identity.unread);
  const bool greeted = co_await greet(std::move(identity));
  if (!greeted) co_return std::nullopt;
  log_begin();
  co_return unread;
}

// Answered only when the cancel has been delivered: a client may rely on that, as with PostgreSQL.
asio::awaitable<void> Session::deliver(protocol::CancelRequest request) {
  const auto& workers = worker_.shared().workers;
  Worker& owner = *workers[Worker::index_of(request.process_id, workers.size())];
  const auto from = listener_ == Worker::kBehind ? Worker::CancelFrom::Successor : Worker::CancelFrom::Client;
  std::function<asio::awaitable<Result<bool>>()> task = [&owner, request, from] {
    return owner.cancel(request, from);
  };
  co_await pgclient::call_on<bool>(owner.context().get_executor(), std::move(task));
}

// Classifies, counts and connects the session. What the client is to be told when that fails.
asio::awaitable<std::optional<ErrorFields>> Session::place(ClientIdentity& identity) {
  Classified classified = co_await classify(worker_.shared(), snapshot_, identity, peer_, listener_);
  if (classified.refusal) {
    reject(telemetry::RejectReason::UnknownDatabase);
    co_return *std::move(classified.refusal);
  }
  if (worker_.shared().gates.disabled(tag_.database)) {
    reject(telemetry::RejectReason::DatabaseDisabled);
    co_return fatal("57P03", "database \"" + tag_.database + "\" is disabled");
  }
  tag_.priority = classified.priority;
  tag_.host = classified.host;
  if (!snapshot_->config->budgets.empty()) {
    config::ClientFacts facts = client_facts(identity.startup, peer_, listener_);
    budgets_ =
        BudgetMatch(*snapshot_->config, snapshot_->budget_ids, facts, snapshot_->class_name(tag_.priority));
    tag_.budget = budgets_.without_route();
  }
  if (std::optional<ErrorFields> refusal = take_size(identity)) {
    reject(telemetry::RejectReason::ProtocolViolation);
    co_return refusal;
  }
  if (const auto limit = worker_.shared().admission.enter(tag_)) {
    reject(reason_of_limit(*limit));
    const std::string named = as_configured(*limit, *snapshot_->config, tag_.database);
    log::warning("session refused", {{"session", id().value()},
                                     {"limit", named},
                                     {"user", tag_.user},
                                     {"database", tag_.database},
                                     {"class", snapshot_->class_name(tag_.priority)},
                                     {"host", tag_.host},
                                     {"peer", net::to_string(peer_)}});
    co_return limit_reached(named);
  }
  entered_ = true;
  const Clock::time_point give_up_at = Clock::now() + snapshot_->options().query_wait_timeout;
  std::optional<ErrorFields> refusal = co_await pass_gate(give_up_at);
  if (!refusal && identity.startup.replication == protocol::Replication::Off &&
      config::pool_mode_of(*snapshot_->config, *classified.database, tag_.user) ==
          config::PoolMode::Transaction) {
    refusal = co_await begin_transactions(identity, classified, give_up_at);
  } else if (!refusal && classified.primary) {
    tag_.size = sizes_.begin(std::nullopt);
    refusal = co_await connect_primary(identity, classified.server_database, give_up_at);
  } else if (!refusal) {
    tag_.size = sizes_.begin(std::nullopt);
    refusal = co_await assign(identity, classified.server_database, give_up_at);
  }
  if (refusal) {
    reject(reject_reason_                 ? *reject_reason_
           : Clock::now() >= give_up_at   ? telemetry::RejectReason::QueryWaitTimeout
           : refusal->sqlstate == "57P03" ? telemetry::RejectReason::NoReplica
                                          : telemetry::RejectReason::ServerLogin);
    co_return refusal;
  }
  begin_accounting(snapshot_->database_label(classified.database));
  co_return std::nullopt;
}

// What the session says of its size counts where it is trusted, as a transaction's in transaction mode.
std::optional<ErrorFields> Session::take_size(const ClientIdentity& identity) {
  if (!identity.asked.size) return std::nullopt;
  const config::ClientFacts facts = client_facts(identity.startup, peer_, listener_);
  if (!config::trusts_size_option(*snapshot_->config, facts)) return std::nullopt;
  const std::optional<double> size = parse_size(*identity.asked.size);
  if (!size)
    return ErrorFields{"FATAL", "22023", "invalid value for sluice.size: \"" + *identity.asked.size + "\"",
                       "", "Give the seconds of work that are expected, like 0.25 or 250ms."};
  sizes_.give(*size);
  tag_.size = size;
  return std::nullopt;
}

// Takes the session out of every count; its server connection goes back or is closed.
asio::awaitable<void> Session::leave(RelayEnd end) {
  if (accounted_ && granted_ && !transactions_) {
    const std::chrono::nanoseconds service = meter_.totals().service;
    sizes_.end(service);
    record_slowdown(worker_.metrics(), tag_.priority, granted_->waited, service);
  }
  if (accounted_) end_accounting(end);
  if (entered_) worker_.shared().admission.leave(tag_);
  // Where slots are limited, there is room for the next one only then; it can use this very connection.
  if (granted_ && !granted_->limited) worker_.shared().admission.close(*granted_);
  co_await give_server_back(end);
  if (granted_ && granted_->limited) worker_.shared().admission.close(*granted_);
}

asio::awaitable<RelayEnd> Session::relay(Bytes unread) {
  phase_ = Phase::Relaying;
  tracker_.emplace();
  if (transactions_) co_return co_await relay_transactions(std::move(unread));
  relay_ = std::make_unique<Relay>(client_, server_->stream, *tracker_, worker_.buffers(), meter_,
                                   RelayRing{worker_.ring()});
  const RelayEnd end = co_await asio::async_initiate<const asio::use_awaitable_t<>, void(RelayEnd)>(
      [this](auto handler, const Bytes& first) {
        // std::function wants a copyable callable.
        auto shared_handler = std::make_shared<decltype(handler)>(std::move(handler));
        relay_->start(first, [shared_handler](RelayEnd e) { std::move (*shared_handler)(e); });
        if (stop_reason_) relay_->stop();  // it came while the client was greeted
      },
      asio::use_awaitable, unread);
  unsent_ = relay_->take_unsent();
  relay_.reset();
  co_return end;
}

void Session::stop(ErrorFields why, telemetry::CloseReason cause) {
  if (stop_reason_) return;
  stop_reason_ = std::make_unique<const ErrorFields>(std::move(why));
  stop_cause_ = cause;
  switch (phase_) {
    case Phase::LoggingIn:
    case Phase::Console:
      client_.close();
      break;
    case Phase::Waiting:  // looks at stop_reason_ before it goes on
      worker_.at_gate().wake_all();
      if (slot_wait_ != nullptr) slot_wait_->wake();
      break;
    case Phase::Ending:
      break;
    case Phase::Relaying:
      if (relay_) relay_->stop();
      if (transactions_ && transactions_->relay() != nullptr) transactions_->relay()->stop();
      break;
  }
}

bool Session::at_rest() const {
  if (phase_ == Phase::Waiting) return true;
  if (transactions_) return transactions_->relay() != nullptr && !transactions_->past_gate();
  return relay_ && tracker_->frontend_at_boundary() && !tracker_->owes_answer() &&
         tracker_->transaction_status() == 'I';
}

void Session::tick(Clock::time_point now) {
  TransactionRelay* const transactions = transactions_ ? transactions_->relay() : nullptr;
  if (!relay_ && transactions == nullptr) return;
  meter_.flush();
  if (stop_reason_) return;
  if (transactions != nullptr) {
    transactions_->tick(now);
    transactions->tick(now);
  } else {
    relay_->tick(now);
  }
  enforce_time_limits(now);
}

void Session::enforce_time_limits(Clock::time_point now) {
  const config::Options& options = snapshot_->options();
  const auto passed = [now](Clock::time_point since, std::chrono::seconds limit) {
    return limit.count() > 0 && now - since >= limit;
  };
  const Clock::time_point stalled_since =
      relay_ ? relay_->client_stalled_since() : transactions_->relay()->client_stalled_since();
  if (stalled_since != Clock::time_point::max() && passed(stalled_since, options.write_stall_timeout))
    return stop(fatal("57P05", "the client took no bytes for too long (write_stall_timeout)"),
                telemetry::CloseReason::WriteStallTimeout);
  if (const auto since = tracker_->work_since(); since && passed(*since, options.query_timeout))
    return stop(fatal("57014", "query_timeout"), telemetry::CloseReason::QueryTimeout);
  if (const auto since = transaction_since(); since && passed(*since, options.transaction_timeout))
    return stop(fatal("25P04", "terminating connection due to transaction timeout"),
                telemetry::CloseReason::TransactionTimeout);
  if (!tracker_->clients_turn() || (transactions_ && transactions_->relay()->waiting_since())) return;
  if (!transaction_since()) {
    if (passed(began_at_, options.session_lifetime))
      return stop(fatal("57P05", "terminating connection due to session_lifetime"),
                  telemetry::CloseReason::Lifetime);
    if (passed(last_activity(), options.client_idle_timeout))
      stop(fatal("57P05", "terminating connection due to client_idle_timeout"),
           telemetry::CloseReason::ClientIdleTimeout);
  } else if (passed(last_activity(), options.idle_transaction_timeout)) {
    stop(fatal("25P03", "terminating connection due to idle transaction timeout"),
         telemetry::CloseReason::IdleTransactionTimeout);
  }
}

// Half a message that keeps a server which others could use counts as a transaction.
std::optional<Session::Clock::time_point> Session::transaction_since() const noexcept {
  const auto since = tracker_->transaction_since();
  return since || !transactions_ ? since : transactions_->held_since();
}

Session::Clock::time_point Session::last_activity() const noexcept {
  return relay_ ? relay_->last_activity() : transactions_->relay()->last_activity();
}

bool Session::on_server(ServerId server) const noexcept {
  if (server_) return server_->server == server;
  const PooledServer* const pooled = transactions_ ? transactions_->server() : nullptr;
  return pooled != nullptr && pooled->connection().server == server;
}

bool Session::has_key(ByteView secret) const noexcept {
  return secret.size() == secret_.size() && CRYPTO_memcmp(secret.data(), secret_.data(), secret.size()) == 0;
}

asio::awaitable<void> Session::cancel() {
  if (phase_ == Phase::Relaying && transactions_) {
    co_await cancel_transaction();
    co_return;
  }
  if (phase_ != Phase::Relaying || !server_ || server_->secret.empty() || !tracker_->owes_answer()) {
    worker_.metrics().count(metric::cancels_total, telemetry::CancelResult::NothingRunning);
    co_return;
  }
  ++cancels_in_flight_;
  CancelTarget target;
  target.server = server_->server;
  target.process_id = server_->process_id;
  target.secret = server_->secret;
  const auto sent =
      co_await send_cancel(server_snapshot_, std::move(target), snapshot_->options().cancel_wait_timeout);
  worker_.metrics().count(metric::cancels_total,
                          sent ? telemetry::CancelResult::Forwarded : telemetry::CancelResult::Failed);
  // It may still be on its way, and must not find the server with its next client.
  if (!sent) server_->pool_key.clear();
  --cancels_in_flight_;
}

telemetry::ServerLabel Session::server_label() const {
  return on_replica() ? telemetry::ServerLabel(granted_->replica) : telemetry::ServerLabel::primary();
}

telemetry::PoolLabel Session::pool_label() const {
  return on_replica() ? telemetry::PoolLabel(granted_->pool) : telemetry::PoolLabel::primary();
}

void Session::begin_accounting(telemetry::DatabaseLabel database) {
  accounted_ = true;
  opened_ = !transactions_;
  telemetry::ThreadMetrics& metrics = worker_.metrics();
  meter_.begin(tag_.priority, pool_label(), server_label(), database);
  meter_.set_host(telemetry::HostLabel(snapshot_->host_number(tag_.host)));
  if (snapshot_->options().trace_comments)
    meter_.trace(worker_.calls(), {snapshot_->host_number(tag_.host), tag_.priority.value()},
                 snapshot_->options().trace_idle_timeout);
  if (worker_.recording().on())
    meter_.record(worker_.recording(),
                  {snapshot_->class_name(tag_.priority), tag_.user, tag_.database, tag_.host});
  if (SessionRecording* const recording = meter_.recording();
      recording != nullptr && !transactions_ && on_replica())
    recording->admitted(RecordedKind::Session, granted_->replica, granted_->waited, tag_.size, Clock::now());
  if (!transactions_) {
    metrics.count(metric::sessions_opened_total, tag_.priority, server_label());
    metrics.change(metric::sessions, 1, tag_.priority, server_label());
    metrics.count(metric::server_assignments_total, database);
  }
  metrics.count(metric::client_logins_total, database);
  start_ = std::chrono::system_clock::now() - connected_at_;
  metrics.record(metric::session_start_seconds, start_, tag_.priority);
}

void Session::end_accounting(RelayEnd end) {
  meter_.flush();
  if (SessionRecording* const recording = meter_.recording()) recording->ended(Clock::now());
  telemetry::ThreadMetrics& metrics = worker_.metrics();
  if (!transactions_) metrics.change(metric::sessions, -1, tag_.priority, server_label());
  if (opened_) metrics.count(metric::sessions_closed_total, close_reason(end));
}

telemetry::CloseReason Session::close_reason(RelayEnd end) const {
  switch (end) {
    case RelayEnd::ClientTerminated:
      return telemetry::CloseReason::ClientTerminate;
    case RelayEnd::ClientClosed:
    case RelayEnd::ClientFailed:
      return telemetry::CloseReason::ClientDisconnect;
    case RelayEnd::ServerClosed:
    case RelayEnd::ServerJudged:
      return tracker_ && tracker_->fatal_seen() ? telemetry::CloseReason::ServerFatal
                                                : telemetry::CloseReason::ServerDisconnect;
    case RelayEnd::Stopped:
      return stop_cause_;
  }
  return telemetry::CloseReason::Internal;
}

void Session::reject(telemetry::RejectReason reason) {
  worker_.metrics().count(metric::sessions_rejected_total, reason);
}

void Session::log_begin() {
  if (!snapshot_->options().log_connections) return;
  log::info("session opened", {{"session", id().value()},
                               {"user", tag_.user},
                               {"database", tag_.database},
                               {"class", snapshot_->class_name(tag_.priority)},
                               {"host", tag_.host},
                               {"peer", net::to_string(peer_)},
                               {"server", server_name()},
                               {"application_name", application_name_},
                               {"tls", client_.tls() != nullptr},
                               {"start_seconds", start_},
                               {"outcome", on_replica()    ? policy::outcome_name(granted_->outcome)
                                           : transactions_ ? "transactions"
                                                           : "primary"}});
}

}  // namespace sluice::router
