#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"
#include "net/stream.h"
#include "pooling/session_translator.h"
#include "pooling/settings.h"
#include "protocol/error_response.h"
#include "protocol/session_tracker.h"
#include "router/admission.h"
#include "router/budget_match.h"
#include "router/listen_registry.h"
#include "router/session_meter.h"
#include "router/size_learner.h"
#include "router/slot_request.h"
#include "router/transaction_pools.h"
#include "router/transaction_relay.h"

namespace sluice::router {

class Worker;

// What a session in transaction mode has in place of a server connection of its own: each transaction is
// admitted by the policy, and runs on a connection of the thread's pools. Created when the client has proved
// who it is. Thread: the session's.
class TransactionSession final : private TransactionRelay::Host,
                                 private ServerWaiter,
                                 private SlotRequest::Owner,
                                 private NotificationSink {
 public:
  using Clock = std::chrono::steady_clock;
  // Of its database's entry.
  struct Routing {
    config::ReadOnly read_only = config::ReadOnly::Target;
    config::ReadYourWrites read_your_writes = config::ReadYourWrites::Off;
  };

  // What its session does for it.
  class Owner {
   public:
    // Its first transaction has a server: the session counts from here on.
    virtual void begin_accounting(telemetry::ServerLabel server, telemetry::PoolLabel pool) = 0;
    // No server will ever be had: the session ends with this.
    virtual void end_for_want_of_server(protocol::ErrorFields why) = 0;
    // More notifications wait for the client than it may leave unread.
    virtual void end_for_unread_notifications(protocol::ErrorFields why) = 0;

   protected:
    ~Owner() = default;
  };

  // `servers`: where its transactions go as long as they do not say, and `routing` does not. `budgets`,
  // `sizes` and the tag outlive it. `ways`: see TransactionPools::join().
  TransactionSession(Worker& worker, Owner& owner, SessionTag& tag, const BudgetMatch& budgets,
                     SizeWatch& sizes, Servers servers, Routing routing, telemetry::DatabaseLabel database,
                     std::vector<ServerRequest> ways);
  TransactionSession(const TransactionSession&) = delete;
  TransactionSession& operator=(const TransactionSession&) = delete;
  ~TransactionSession();

  // Of the servers where it is at home. While nothing is known of them, the session waits for others that
  // open a connection, or opens one and gives it to adopt().
  ServerReport& report() noexcept { return pool_.report(home_); }
  // Whether there is a greeting. From then on there is, whatever becomes of the report.
  bool has_greeting();
  // What the client is greeted with, and taken to know.
  const ParameterSet& greeting();
  void adopt(ServerConnection connection) { pools_.adopt(pool_, std::move(connection)); }

  // The relay of its whole life, not started. `client`, `tracker` and `meter` outlive it.
  TransactionRelay& make_relay(net::Stream& client, protocol::SessionTracker& tracker, SessionMeter& meter);
  void end_relay();
  // Why it keeps its server between transactions; empty: it does not.
  pooling::PinReasons pins() const noexcept { return pinned_ ? translator_.pins() : pooling::PinReasons{}; }
  std::size_t statement_count() const noexcept { return translator_.statement_count(); }
  std::size_t channel_count();  // that it listens to
  TransactionRelay* relay() noexcept { return relay_ ? &*relay_ : nullptr; }
  const TransactionRelay* relay() const noexcept { return relay_ ? &*relay_ : nullptr; }
  void tick(Clock::time_point now);

  // It has a slot, so PAUSE lets it end its transaction.
  bool past_gate() const override { return slot_.has_value(); }
  // Waits for a slot.
  bool queued() const noexcept { return request_ != nullptr; }
  // Since when it has a server without being pinned to it.
  std::optional<Clock::time_point> held_since() const noexcept;
  // The server that runs its transaction; null between transactions.
  PooledServer* server() const noexcept { return relay_ ? relay_->server() : nullptr; }

 private:
  PooledServer* server_wanted(ByteView first, Clock::time_point now) override;
  PooledServer* server_wanted_again(Clock::time_point now) override;
  void server_not_wanted() override;
  void server_done(PooledServer& server, Clock::time_point now) override;
  void server_pinned() override;
  void settings_refused(protocol::ErrorFields why) override;
  void server_left(PooledServer& server, TransactionRelay::Left left) override;
  // transaction_target.cc
  bool wants_position() const override;
  void position_known(std::uint64_t position) override;
  // What the client's settings say of where its transactions go.
  struct SettingsSay {
    pooling::SettingSetPtr settings;
    Servers where = Servers::Replicas;
    bool read_only = false;
  };
  const SettingsSay& settings_say();
  Servers route(ByteView first);
  Servers among_fresh_replicas();
  bool is_behind(policy::ReplicaId replica) const;
  PooledServer* ask_primary(Clock::time_point now);
  // transaction_listens.cc
  bool listens_begun(std::vector<std::string> channels) override;
  bool listens_changed(std::vector<pooling::ListenChange> changes) override;
  void listens_failed() override;
  void listens_settled() override;
  bool listens_to(std::string_view channel) override;
  bool wants_to_hear_all() override;
  void notified(ByteView message) override;
  void notified_early(const std::string& channel, ByteView message) override;
  void heard_all() override;
  void listening() override;
  void cannot_listen(const protocol::ErrorFields& why) override;
  ListenPlace listen_place() const;
  void count_listening();
  void limit_unread();
  void tick_listens(Clock::time_point now);
  void server_ready(PooledServer& server) override;
  void server_failed(const ServerFailure& failure) override;
  void slot_granted(Granted slot) override;

  // All: the server, or null, and then an answer comes later, or has been given.
  PooledServer* ask(Clock::time_point now);
  PooledServer* use_slot(Granted slot, Clock::time_point now);
  PooledServer* take_or_open(Clock::time_point now);
  bool outdated(const PooledServer& server) const;
  bool unwanted(const PooledServer& server) const;
  void begin(PooledServer& server, Clock::time_point now);
  void record_end(Clock::time_point now);
  void end_slot(Clock::time_point now);
  void learn_size(bool pinned);
  void stop_waiting();
  void reject(const Admission::Rejected& rejected);
  void wait_or_refuse(protocol::ErrorFields error);
  void count_over_budget(policy::BudgetId budget, telemetry::BudgetVerdict verdict);
  void refuse(protocol::ErrorFields error, telemetry::RejectReason reason);
  void give_up();  // query_wait_timeout
  telemetry::ServerLabel label() const;
  telemetry::PoolLabel pool_label() const;

  Worker& worker_;
  Owner& owner_;
  SessionTag& tag_;
  const BudgetMatch& budgets_;
  SizeWatch& sizes_;
  const Servers home_;  // where its transactions go that do not say
  const Routing routing_;
  SettingsSay say_;
  Servers servers_;               // where the present one goes
  bool writes_ = false;           // it may write
  std::uint64_t written_to_ = 0;  // WAL that a replica has to have replayed; all ones: not known
  const telemetry::DatabaseLabel database_;
  TransactionPools& pools_;
  TransactionPool& pool_;
  const std::shared_ptr<const PoolingRules> rules_;
  pooling::ClientSettings settings_;
  pooling::SessionTranslator translator_;
  bool pinned_ = false;
  protocol::SessionTracker* tracker_ = nullptr;
  SessionMeter* meter_ = nullptr;
  std::shared_ptr<const ParameterSet> greeting_;  // until there is a relay
  std::optional<TransactionRelay> relay_;
  SlotRequest* request_ = nullptr;  // while it waits in the queue
  bool told_queued_ = false;        // the client, of its wait for this transaction
  std::optional<Granted> slot_;
  Clock::time_point began_at_{};               // has a server since then
  std::chrono::nanoseconds service_before_{};  // as of the beginning of its work on the server that it has
  std::optional<policy::QueuePlace> place_;    // of a slot that this transaction could not use
  bool opening_ = false;                       // waits for a connection being opened
  bool asks_again_ = false;                    // when time has passed: no replica is alive, or PAUSE
  bool accounted_ = false;
  std::optional<Clock::time_point> listen_since_;  // waits to be listened for
  bool counted_as_listening_ = false;
  std::optional<ServerId> labels_of_;  // whose labels the meter has
  Clock::time_point asked_at_{};
  Clock::time_point give_up_at_{};
  std::vector<policy::ReplicaId> failed_;  // where this transaction found no connection
  bool fresh_only_ = false;                // only a replica that has what the session wrote
  protocol::ErrorFields last_error_;
};

}  // namespace sluice::router
