#include "router/transaction_session.h"

#include <utility>

#include "router/policy_counts.h"
#include "router/refusals.h"
#include "router/worker.h"
#include "telemetry/log.h"

namespace sluice::router {
namespace {

using protocol::ErrorFields;
namespace metric = telemetry::metric;

telemetry::PinReason label_of(pooling::PinReason reason) {
  static_assert(telemetry::LabelTraits<telemetry::PinReason>::kCount == pooling::kPinReasonCount);
  return static_cast<telemetry::PinReason>(reason);
}

}  // namespace

TransactionSession::TransactionSession(Worker& worker, Owner& owner, SessionTag& tag,
                                       const BudgetMatch& budgets, SizeWatch& sizes, Servers servers,
                                       Routing routing, telemetry::DatabaseLabel database,
                                       std::vector<ServerRequest> ways)
    : worker_(worker),
      owner_(owner),
      tag_(tag),
      budgets_(budgets),
      sizes_(sizes),
      home_(servers),
      routing_(routing),
      servers_(servers),
      database_(database),
      pools_(worker.transaction_pools()),
      pool_(pools_.join(std::move(ways))),
      rules_(pools_.rules()),
      settings_(pools_.settings_store(), rules_->tracked, {}),
      translator_(tag.id.value(), pools_.statement_store(),
                  servers == Servers::Primary ? rules_->translator : rules_->on_replicas, settings_) {}

TransactionSession::~TransactionSession() {
  SLUICE_ASSERT(!slot_ && request_ == nullptr && !opening_);
  pools_.leave(pool_);
}

bool TransactionSession::has_greeting() {
  if (!greeting_) greeting_ = report().parameters();
  return greeting_ != nullptr;
}

const ParameterSet& TransactionSession::greeting() {
  const bool known = has_greeting();
  SLUICE_ASSERT(known);
  return *greeting_;
}

TransactionRelay& TransactionSession::make_relay(net::Stream& client, protocol::SessionTracker& tracker,
                                                 SessionMeter& meter) {
  tracker_ = &tracker;
  meter_ = &meter;
  pooling::ServerSettings greeted(pools_.settings_store());
  greeted.on_reports(greeting().entries());
  settings_.greet(greeted);
  greeting_.reset();
  const TransactionRelay::Parts parts{
      tracker, translator_, settings_, meter, worker_.buffers(), pools_, RelayRing{worker_.ring()}};
  TransactionRelay::Host& host = *this;
  return relay_.emplace(client, parts, host);
}

telemetry::ServerLabel TransactionSession::label() const {
  return slot_->servers == Servers::Replicas ? telemetry::ServerLabel(slot_->replica)
                                             : telemetry::ServerLabel::primary();
}

telemetry::PoolLabel TransactionSession::pool_label() const {
  return slot_->servers == Servers::Replicas ? telemetry::PoolLabel(slot_->pool)
                                             : telemetry::PoolLabel::primary();
}

PooledServer* TransactionSession::server_wanted(ByteView first, Clock::time_point now) {
  failed_.clear();
  place_.reset();
  fresh_only_ = false;
  servers_ = route(first);
  tag_.budget = budgets_.of_transaction(first);
  const bool escapes = settings_.backslash() == pooling::Backslash::Escape;
  tag_.size = sizes_.learns() ? sizes_.begin(translator_.first_sql(first), escapes) : sizes_.given();
  return server_wanted_again(now);
}

PooledServer* TransactionSession::server_wanted_again(Clock::time_point now) {
  asked_at_ = now;
  give_up_at_ = now + worker_.snapshot()->options().query_wait_timeout;
  told_queued_ = false;
  return ask(now);
}

// A slot first, of the policy's choice.
PooledServer* TransactionSession::ask(Clock::time_point now) {
  if (worker_.shared().gates.paused(tag_.database)) {
    asks_again_ = true;
    return nullptr;
  }
  if (servers_ == Servers::Primary && !worker_.snapshot()->servers.contains(kPrimary)) {
    const config::Config& config = *worker_.snapshot()->config;
    if (config::has_primary(config))
      wait_or_refuse(no_primary(config));
    else
      refuse(no_primary(config), telemetry::RejectReason::NoReplica);
    return nullptr;
  }
  Admission::Answer answer = worker_.slot_requests().ask(tag_, failed_, servers_, place_, *this, request_);
  if (auto* const granted = std::get_if<Granted>(&answer)) return use_slot(std::move(*granted), now);
  if (const auto* const rejected = std::get_if<Admission::Rejected>(&answer)) {
    if (fresh_only_ && rejected->limit.empty()) return ask_primary(now);
    reject(*rejected);
  } else {
    if (const auto beyond = std::get<Admission::Queued>(answer).beyond)
      count_over_budget(*beyond, telemetry::BudgetVerdict::WouldBeRefused);
    worker_.metrics().change(metric::sessions_waiting, 1, tag_.priority);
  }
  return nullptr;
}

void TransactionSession::count_over_budget(policy::BudgetId budget, telemetry::BudgetVerdict verdict) {
  worker_.metrics().count(metric::budget_refusals_total, telemetry::BudgetLabel(budget.value()), verdict);
}

void TransactionSession::reject(const Admission::Rejected& rejected) {
  if (rejected.budget) count_over_budget(*rejected.budget, telemetry::BudgetVerdict::Refused);
  if (!rejected.limit.empty())
    return refuse(too_many_wait(rejected.limit), reason_of_wait_limit(rejected.limit));
  worker_.metrics().count(metric::decisions_total, tag_.priority, policy::Outcome::Refused);
  if (failed_.empty()) last_error_ = no_replica();
  wait_or_refuse(std::move(last_error_));
}

// As no_replica has it.
void TransactionSession::wait_or_refuse(ErrorFields error) {
  const config::Options& options = worker_.snapshot()->options();
  if (options.no_replica == config::NoReplica::Wait && Clock::now() < asked_at_ + options.no_replica_wait)
    asks_again_ = true;
  else
    refuse(std::move(error), telemetry::RejectReason::NoReplica);
}

PooledServer* TransactionSession::use_slot(Granted slot, Clock::time_point now) {
  slot_ = std::move(slot);
  if (servers_ == Servers::Replicas) {
    worker_.metrics().count(metric::decisions_total, tag_.priority, slot_->outcome);
    count_size_use(worker_.metrics(), worker_.snapshot()->options(), tag_.priority, *slot_);
    count_changes(worker_.metrics(), slot_->changes, tag_.priority);
    if (fresh_only_ && is_behind(slot_->replica)) {  // the queue forgets what a waiter may not have
      end_slot(now);
      return ask_primary(now);
    }
  }
  return take_or_open(now);
}

void TransactionSession::slot_granted(Granted slot) {
  request_ = nullptr;
  worker_.metrics().change(metric::sessions_waiting, -1, tag_.priority);
  const Clock::time_point now = Clock::now();
  if (PooledServer* const server = use_slot(std::move(slot), now)) relay_->give(*server, now);
}

void TransactionSession::stop_waiting() {
  if (request_ == nullptr) return;
  worker_.slot_requests().give_up(*std::exchange(request_, nullptr));
  worker_.metrics().change(metric::sessions_waiting, -1, tag_.priority);
}

// RECONNECT has come since it was opened.
bool TransactionSession::outdated(const PooledServer& server) const {
  return worker_.shared().gates.outdated(tag_.database, server.connection().opened_at);
}

// Nobody gets it any more: it is outdated, or its database is paused.
bool TransactionSession::unwanted(const PooledServer& server) const {
  return outdated(server) || worker_.shared().gates.paused(tag_.database);
}

PooledServer* TransactionSession::take_or_open(Clock::time_point now) {
  const ServerId server = slot_->server();
  while (PooledServer* const idle = pools_.take(pool_, server, now)) {
    if (outdated(*idle)) {
      idle->retire();
      pools_.give_back(*idle, now);
      continue;
    }
    worker_.metrics().count(metric::server_connections_reused_total, label());
    begin(*idle, now);
    return idle;
  }
  opening_ = true;
  pools_.open(pool_, server, *this, now);
  return nullptr;
}

std::optional<TransactionSession::Clock::time_point> TransactionSession::held_since() const noexcept {
  return server() != nullptr && !pinned_ ? std::optional(began_at_) : std::nullopt;
}

void TransactionSession::begin(PooledServer& server, Clock::time_point now) {
  began_at_ = now;
  const std::uint64_t before = std::exchange(server.last_session, tag_.id.value());
  server.discard_first = rules_->strict && before != 0 && before != tag_.id.value();
  telemetry::ThreadMetrics& metrics = worker_.metrics();
  if (!std::exchange(accounted_, true)) owner_.begin_accounting(label(), pool_label());
  if (labels_of_ != slot_->server()) {
    labels_of_ = slot_->server();
    meter_->flush();
    meter_->begin(tag_.priority, pool_label(), label(), database_);
  }
  metrics.count(metric::server_assignments_total, database_);
  metrics.change(metric::sessions, 1, tag_.priority, label());
  metrics.record(metric::wait_seconds, now - asked_at_, tag_.priority, pool_label());
  metrics.add(metric::wait_seconds_total, now - asked_at_, database_);
  if (meter_ == nullptr) return;
  meter_->waited(now - asked_at_);
  service_before_ = meter_->totals().service;
  if (SessionRecording* const recording = meter_->recording();
      recording != nullptr && servers_ == Servers::Replicas)
    recording->admitted(RecordedKind::Transaction, slot_->replica, now - asked_at_, tag_.size, now);
}

// Of what has just ended. A session that stays on its server goes on with other work there.
void TransactionSession::learn_size(bool pinned) {
  const std::chrono::nanoseconds service = meter_->totals().service - service_before_;
  if (pinned || service.count() <= 0) return;
  sizes_.end(service);
  record_slowdown(worker_.metrics(), tag_.priority, slot_->waited, service);
}

void TransactionSession::record_end(Clock::time_point now) {
  if (SessionRecording* const recording = meter_ != nullptr ? meter_->recording() : nullptr)
    recording->ended(now);
}

void TransactionSession::end_slot(Clock::time_point now) {
  if (!slot_) return;
  record_end(now);
  worker_.slot_requests().close(*std::exchange(slot_, std::nullopt));
}

void TransactionSession::server_ready(PooledServer& server) {
  opening_ = false;
  const Clock::time_point now = Clock::now();
  begin(server, now);
  relay_->give(server, now);
}

void TransactionSession::server_failed(const ServerFailure& failure) {
  opening_ = false;
  last_error_ = failure.error;
  const bool elsewhere = servers_ == Servers::Replicas;
  place_ = slot_->place;
  if (elsewhere) failed_.push_back(slot_->replica);
  const Clock::time_point now = Clock::now();
  end_slot(now);
  // What one server refuses for the session's own sake, the next would refuse too.
  if (failure.kind != ServerFailure::Kind::Unreachable && failure.kind != ServerFailure::Kind::NotReady)
    return owner_.end_for_want_of_server(std::move(last_error_));
  if (now >= give_up_at_) return give_up();
  if (!elsewhere) return wait_or_refuse(std::move(last_error_));
  if (PooledServer* const server = ask(now)) relay_->give(*server, now);
}

void TransactionSession::give_up() {
  ErrorFields error =
      queued() ? waited_in_queue(worker_.shared().admission.waits_for(*request_)) : waited_too_long();
  server_not_wanted();
  refuse(std::move(error), telemetry::RejectReason::QueryWaitTimeout);
}

// The session goes on.
void TransactionSession::refuse(ErrorFields error, telemetry::RejectReason reason) {
  asks_again_ = false;
  error.severity = "ERROR";
  worker_.metrics().count(metric::sessions_rejected_total, reason);
  relay_->refuse(error);
}

void TransactionSession::server_not_wanted() {
  asks_again_ = false;
  stop_waiting();
  if (std::exchange(opening_, false)) pools_.forget(pool_, slot_->server(), *this);
  end_slot(Clock::now());
}

// Once for each time that it begins: visible to operators, not a surprise.
void TransactionSession::server_pinned() {
  if (std::exchange(pinned_, true)) return;
  const std::optional<pooling::PinReason> reason = translator_.pins().first();
  if (!reason) return;  // a large unnamed statement, until it has been used
  worker_.metrics().count(metric::sessions_pinned_total, label_of(*reason));
  log::info("session pinned to its server", {{"session", tag_.id.value()},
                                             {"user", tag_.user},
                                             {"database", tag_.database},
                                             {"server", worker_.snapshot()->server_name(slot_->server())},
                                             {"reason", pooling::name(*reason)}});
}

void TransactionSession::settings_refused(ErrorFields why) {
  owner_.end_for_want_of_server(std::move(why));
}

void TransactionSession::server_done(PooledServer& server, Clock::time_point now) {
  learn_size(std::exchange(pinned_, false));
  worker_.metrics().change(metric::sessions, -1, tag_.priority, label());
  if (unwanted(server)) server.retire();
  // The connection first: the next one to have the slot finds it.
  pools_.give_back(server, now);
  end_slot(now);
}

void TransactionSession::server_left(PooledServer& server, TransactionRelay::Left left) {
  worker_.metrics().change(metric::sessions, -1, tag_.priority, label());
  pinned_ = false;
  if (unwanted(server)) server.retire();
  SLUICE_ASSERT(slot_);
  record_end(Clock::now());
  Granted slot = *std::exchange(slot_, std::nullopt);
  place_ = slot.place;  // for server_wanted_again()
  switch (left) {
    case TransactionRelay::Left::Clean:
      pools_.give_back(server, Clock::now());
      return worker_.shared().admission.close(slot);
    case TransactionRelay::Left::Dirty:
      return pools_.give_back_open(server, tracker_->transaction_status(), tracker_->doubtful_syncs(),
                                   std::move(slot));
    case TransactionRelay::Left::Broken:
      return pools_.abandon(server, tracker_->owes_answer(), std::move(slot));
    case TransactionRelay::Left::Gone:
      return pools_.abandon(server, false, std::move(slot));
  }
}

void TransactionSession::tick(Clock::time_point now) {
  if (!relay_) return;
  tick_listens(now);
  if (const auto since = relay_->handing_over_since();
      since && now - *since >= worker_.snapshot()->options().server_reset_timeout)
    relay_->give_up_hand_over();
  if (!relay_->waiting_since()) return;
  if (now >= give_up_at_) return give_up();
  const std::chrono::seconds notify = worker_.snapshot()->options().query_wait_notify;
  if (queued() && !told_queued_ && notify.count() > 0 && now - asked_at_ >= notify) {
    told_queued_ = true;
    return relay_->tell(client_queued());
  }
  // The last that has what it wrote went down while it stood in line.
  if (fresh_only_ && queued() && !worker_.shared().admission.any_live(failed_)) {
    stop_waiting();
    if (PooledServer* const server = ask_primary(now)) relay_->give(*server, now);
    return;
  }
  if (!std::exchange(asks_again_, false)) return;
  if (PooledServer* const server = ask(now)) relay_->give(*server, now);
}

}  // namespace sluice::router
