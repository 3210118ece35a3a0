#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include <asio/awaitable.hpp>

#include "pooling/session_translator.h"
#include "pooling/settings.h"
#include "pooling/statement.h"
#include "router/admission.h"
#include "router/pooled_server.h"
#include "router/server_login.h"
#include "router/server_pool.h"
#include "router/server_report.h"
#include "router/shared.h"
#include "router/snapshot.h"

namespace sluice::router {

class Worker;
class TransactionPool;

// A session that waits for a connection being opened. Called from the event loop, never within open().
class ServerWaiter {
 public:
  // It has the connection, whose user it is to become at once.
  virtual void server_ready(PooledServer& server) = 0;
  virtual void server_failed(const ServerFailure& failure) = 0;

 protected:
  ~ServerWaiter() = default;
};

// The connections of one pool to one server. As many are being opened as sessions wait, or more where some
// have been given one that came back meanwhile: the newest are those that somebody counts on, and those
// before them are spare.
struct ServerGroup {
  using TimePoint = std::chrono::steady_clock::time_point;

  TransactionPool& pool;
  ServerId server;
  std::vector<PooledServer*> idle{};    // the most recently used last
  std::deque<ServerWaiter*> waiters{};  // take what comes first, in their order
  std::list<TimePoint> openings{};      // connections that are being opened, by when that began
  std::size_t count = 0;                // those that are open, in whatever state
  std::chrono::nanoseconds takes{};     // to open one: the last time

  // The newest spare one, unless it takes so long that it is to be doubted.
  bool has_spare_opening(TimePoint now) const;
  bool counted_on(std::list<TimePoint>::const_iterator opening) const;
  ServerWaiter& take_waiter();
};

// What sessions of the same user, database and start-up parameters share on one thread.
class TransactionPool {
 public:
  TransactionPool(std::string key, std::vector<ServerRequest> ways)
      : key_(std::move(key)), ways_(std::move(ways)) {}

  ServerGroup& group(ServerId server);
  // Of the primary, or of the replicas.
  ServerReport& report(Servers servers) noexcept {
    return servers == Servers::Primary ? of_primary_ : of_replicas_;
  }

  // Connections to the primary, or to replicas, in whatever state.
  std::size_t open_count(Servers servers) const noexcept;

  // To log in to any server, best first; changes when a session joins.
  const std::vector<ServerRequest>& ways() const noexcept { return ways_; }

 private:
  friend class TransactionPools;
  const std::string key_;
  std::vector<ServerRequest> ways_;
  ServerReport of_primary_;
  ServerReport of_replicas_;
  std::map<ServerId, ServerGroup> groups_;
  std::size_t users_ = 0;  // sessions, and connections that are being opened
};

// The server connections with which one thread serves sessions in transaction mode. They stay on its event
// loop; what a transaction takes is the most recently used one of its server and its session's pool. Thread:
// one.
// What a configuration says of transactions; sessions keep the one that they began with.
struct PoolingRules {
  explicit PoolingRules(const config::Options& options);
  pooling::TrackedSettings tracked;
  pooling::TranslatorOptions translator;
  pooling::TranslatorOptions on_replicas;  // the same, where LISTEN is PostgreSQL's to refuse
  bool strict;
};

class TransactionPools final : private PooledServer::Owner {
 public:
  using Clock = std::chrono::steady_clock;

  explicit TransactionPools(Worker& worker);
  TransactionPools(const TransactionPools&) = delete;
  TransactionPools& operator=(const TransactionPools&) = delete;
  ~TransactionPools();

  // Counts a session in; `ways` as given by server_requests(), for any server. Equal ways, same pool.
  TransactionPool& join(std::vector<ServerRequest> ways);
  void leave(TransactionPool& pool);
  // Makes a connection that was opened for a session's start-up one of the pool, idle.
  void adopt(TransactionPool& pool, ServerConnection connection);

  // An idle connection, or null. O(1), no system call for one that was just used.
  PooledServer* take(TransactionPool& pool, ServerId server, Clock::time_point now);
  // The waiter gets the next that comes: one that is opened, or that another session gives back before.
  void open(TransactionPool& pool, ServerId server, ServerWaiter& waiter, Clock::time_point now);
  // It waits no more.
  void forget(TransactionPool& pool, ServerId server, ServerWaiter& waiter);

  // Back from its user, clean: idle, or with the next who waits.
  void give_back(PooledServer& server, Clock::time_point now);
  // Back from a user who left something behind: rolled back and discarded first. `status`: of its last
  // ReadyForQuery; `doubtful_syncs`: of its SessionTracker. Here and in abandon(), the slot is given back by
  // the pools: where slots are limited, when the server works no more.
  void give_back_open(PooledServer& server, char status, std::uint32_t doubtful_syncs, Granted slot);
  // Back from a user that left it in the middle of something: closed, and what it runs is cancelled first.
  void abandon(PooledServer& server, bool running, Granted slot);
  void discard(PooledServer& server);
  // Closed now if nobody has it, else when it comes back.
  void retire(PooledServer& server);

  // What sessions that begin now go by.
  std::shared_ptr<const PoolingRules> rules() const noexcept { return rules_; }
  pooling::SettingsStore& settings_store() noexcept { return settings_store_; }
  pooling::StatementStore& statement_store() noexcept { return statement_store_; }
  // Room for what is on its way, empty between two uses.
  pooling::Pieces& pieces() noexcept { return pieces_; }
  pooling::Pieces& answers() noexcept { return answers_; }
  Bytes& joined() noexcept { return joined_; }

  // Connections to a server that is gone, draining, or elsewhere now: closed, those in use when they come
  // back.
  void drop(ServerId server);
  // Those to a database, by its name on the server, that nobody has; all such without a name. What its
  // servers report is heard anew.
  void drop_idle(const std::optional<std::string>& server_database);
  // Those to servers that the new configuration has elsewhere, or not at all.
  void replace_snapshot(const Snapshot& from, const Snapshot& to);
  // About twice a second.
  void tick(Clock::time_point now);
  // Closes all; count() falls to zero once the event loop has run.
  void close_all();
  std::size_t count() const noexcept { return servers_.size(); }
  std::size_t idle_count() const noexcept;
  std::vector<ServerPool::IdleInfo> idle() const;
  template <class Use>
  void for_each(const Use& use) const {
    for (const auto& [address, server] : servers_)
      use(*server);
  }

 private:
  void on_idle_end(PooledServer& server) override;
  void on_cleaned(PooledServer& server, bool clean) override;
  void on_cancelled(PooledServer& server) override;
  void on_let_go(PooledServer& server) override;

  PooledServer& add(ServerGroup& group, ServerConnection connection);
  using Opening = std::list<Clock::time_point>::const_iterator;
  asio::awaitable<void> open_one(ServerGroup& group, Opening opening);
  asio::awaitable<std::variant<ServerConnection, ServerFailure>> try_ways(ServerGroup& group);
  asio::awaitable<void> cancel_and_discard(PooledServer& server);
  void note_failure(const ServerFailure& failure, ServerId server, const std::string& user);
  void remove_if_unused(TransactionPool& pool);
  void keep_slot(PooledServer& server, Granted slot);
  void free_slot(std::optional<Granted> slot);
  template <class Condition>
  void drop_if(const Condition& condition);

  Worker& worker_;
  bool closing_ = false;
  std::shared_ptr<const PoolingRules> rules_;
  pooling::SettingsStore settings_store_;
  pooling::StatementStore statement_store_;
  pooling::Pieces pieces_;
  pooling::Pieces answers_;
  Bytes joined_;
  std::unordered_map<PooledServer*, std::unique_ptr<PooledServer>> servers_;
  std::map<std::string, std::unique_ptr<TransactionPool>, std::less<>> pools_;
};

}  // namespace sluice::router
