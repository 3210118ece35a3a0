#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sluice/policy/admission_queue.h"
#include "sluice/policy/assignment.h"
#include "sluice/policy/budgets.h"

#include "router/admission_limits.h"
#include "router/ids.h"

namespace sluice::router {

// What sessions and slots are counted and limited by.
enum class Scope : std::uint8_t { All, User, Database, Host, Class };
inline constexpr std::size_t kScopeCount = 5;
static_assert(kScopeCount == policy::kGateCount);

// What there is of one user, one database and so on. Kept as long as there is anything to count.
struct Usage {
  std::string name;
  std::size_t sessions = 0;
  policy::Gate servers;  // slots taken
};
using Usages = std::array<Usage*, kScopeCount>;  // by Scope

// What a slot is for. The decisions of transactions are kept only where they tell something: a role that
// changed, a pool that was not the class's own, or a refusal.
enum class SlotUse { Session, Transaction };

// Who a session is for, as far as limits, policy and the console care.
struct SessionTag {
  SessionId id;
  std::string user;
  std::string database;
  policy::ClassId priority;
  std::string host;                          // origin host, "" if unknown
  std::optional<policy::BudgetId> budget{};  // may change from one ask() to the next
  std::optional<double> size{};              // likewise: expected, in seconds
  SlotUse use = SlotUse::Session;            // likewise
  Usages usages{};                           // set by Admission::enter, until leave
};

// From a host to each replica and back, by ReplicaId; 0 is not known.
using RoundTrips = std::map<std::string, std::vector<std::chrono::nanoseconds>, std::less<>>;

// A decision with what it was taken for, kept for the console.
struct DecisionRecord {
  std::uint64_t number = 0;
  std::chrono::system_clock::time_point time;
  SessionTag tag;
  std::optional<policy::ReplicaId> replica;  // none when refused
  policy::Outcome outcome = policy::Outcome::Refused;
  policy::Evidence evidence;
  std::vector<policy::RoleChange> changes;
};

// A replica that changed pools, and for whose session.
struct RoleChangeRecord {
  std::uint64_t number = 0;  // counts from 1
  std::chrono::system_clock::time_point time;
  policy::ClassId priority;
  policy::RoleChange change;
};

// Where a slot is asked for: at one of the replicas, which the policy chooses, or at the primary. Each has a
// queue of its own.
enum class Servers { Replicas, Primary };

// The right to use one server connection to one server, for a session or a transaction: to be closed once.
struct Granted {
  Servers servers = Servers::Replicas;
  policy::ReplicaId replica;  // of Servers::Replicas
  policy::ClassId counted_in;
  policy::Outcome outcome = policy::Outcome::Own;
  bool by_size = false;                           // chosen for the expected size
  policy::PoolId pool = policy::PoolId::mixed();  // the replica's, after the decision
  std::vector<policy::RoleChange> changes;        // that the decision made
  std::chrono::nanoseconds waited{};              // in the queue
  policy::QueuePlace place;                       // for ask(), should it find no use for the slot
  bool limited = false;  // others may wait for it: keep it until the server connection is clean
  std::optional<policy::BudgetId> budget;
  Usages usages{};  // as in the tag

  ServerId server() const noexcept {
    return servers == Servers::Primary ? kPrimary : ServerId(replica.value());
  }
};

// Waits for a slot. Derive, and keep it where it is from a Queued answer until granted() was called or
// withdraw() gave true.
class Waiter : private policy::QueueEntry {
 public:
  // The slot: use it, or give it back by Admission::close(). Called once per Queued answer, on whatever
  // thread freed the slot, outside of the lock: post it to the thread that waits, and do no more. The waiter
  // may be gone as soon as what was posted has run.
  virtual void granted(Granted) noexcept = 0;

 protected:
  Waiter() = default;
  ~Waiter() = default;

 private:
  friend class Admission;
  const SessionTag* tag_ = nullptr;
  Servers servers_ = Servers::Replicas;
  std::optional<policy::BudgetId> budget_;
  std::optional<Granted> slot_;  // from the grant under the lock to the call of granted()
  Waiter* next_granted_ = nullptr;
};

// The only state that all sessions share: pools, loads, queue and limits, under one short mutex that is taken
// when a session begins and ends, and when it, or each of its transactions, gets a slot and gives it back:
// where nobody can wait for the slot, the next request of the thread does both (SlotRequests).
// Any thread.
class Admission {
 public:
  static constexpr std::size_t kDecisionsKept = 1000;
  static constexpr std::size_t kRoleChangesKept = 2000;
  static constexpr std::chrono::hours kRoleChangeAgeMax{1};
  // On a clock that never goes back.
  using Now = std::function<std::chrono::nanoseconds()>;
  using Paused = std::function<bool(std::string_view database)>;

  explicit Admission(const policy::PoolConfig& pools, AdmissionLimits limits, Now now = steady_now);
  ~Admission();
  Admission(const Admission&) = delete;
  Admission& operator=(const Admission&) = delete;

  // Counts a session, or names the limit that it would exceed: an option's name.
  std::optional<std::string> enter(SessionTag& tag);
  void leave(SessionTag& tag);

  struct Queued {
    // Is beyond this one, and would have been refused had it been enforced.
    std::optional<policy::BudgetId> beyond;
  };
  struct Rejected {
    // "max_waiting", "max_waiting of class x", "budget x"; empty: no replica is live beside the failed ones.
    std::string limit;
    std::optional<policy::BudgetId> budget;
  };
  using Answer = std::variant<Granted, Queued, Rejected>;
  // Asks for a slot at a server that is not in `failed`, where this request has found no connection; `place`
  // is that of a slot which it had before and could not use. When Queued, the waiter is called later; the tag
  // must live as long as it waits. A newcomer never gets what somebody who waits could have had.
  // `finished`: slots to close() first, under the same lock.
  Answer ask(const SessionTag& tag, Waiter& waiter, policy::ReplicaSet failed = {},
             Servers servers = Servers::Replicas, std::optional<policy::QueuePlace> place = {},
             std::span<const Granted> finished = {});
  // The limit that a waiter waits for: an option's name, "max_active" where none but the servers' is reached,
  // "" while its database is paused.
  std::string waits_for(const Waiter& waiter) const;
  // Stops waiting. False: the slot is on its way, granted() has been or is being called; await it, and
  // close() it.
  bool withdraw(Waiter& waiter);
  // Gives a slot back; the first waiter that can use it has it when this returns. May come
  // after leave() of its session: then the slot is still in use, for cleaning the server.
  void close(const Granted& granted) { close(std::span(&granted, 1)); }
  void close(std::span<const Granted> all);

  // Those of paused databases keep their places and get nothing. Held until it is called again, and asked
  // about databases that come later, under the lock.
  void set_paused(Paused paused);

  void set_up(policy::ReplicaId replica, bool up);
  // False when no replica of the configuration has that name.
  bool set_draining(std::string_view replica, bool draining);
  bool draining(policy::ReplicaId replica) const;
  // The number that a replica has now and will keep; nullopt for an unknown name.
  std::optional<policy::ReplicaId> find_replica(std::string_view name) const;
  std::optional<policy::ClassId> find_class(std::string_view name) const;
  std::optional<policy::BudgetId> find_budget(std::string_view name) const;
  void reconfigure(const policy::PoolConfig& pools, AdmissionLimits limits);
  // Until the next reconfigure(). What others may have changes with it, so that waiters may go.
  void set_class_weight(policy::ClassId session_class, Weight weight);
  // By the host's name, for the order in which near replicas come first.
  void set_round_trips(RoundTrips round_trips);

  // Before any other thread calls: what is to be searched for sizes is no longer searched under the lock, but
  // by search_sizes(), soon after `due` was called: once for each such call, outside of the lock, on whatever
  // thread. What it moves, waiters may go by.
  void set_search_due(std::function<void()> due);
  void search_sizes();

  policy::Snapshot snapshot() const;
  std::vector<policy::SizePoolSnapshot> size_pools() const;  // none where sizes do not decide
  // The newest `most`, oldest first.
  std::vector<DecisionRecord> decisions(std::size_t most = kDecisionsKept) const;
  // Those of the last hour, of them the newest `most`, oldest first.
  std::vector<RoleChangeRecord> role_changes(std::size_t most = kRoleChangesKept) const;
  struct ClassWaiting {
    policy::ClassId id;
    std::size_t waiting = 0;
    std::chrono::nanoseconds longest{};  // of those who wait now
  };
  std::vector<ClassWaiting> waiting() const;  // by class, the highest first
  std::vector<policy::BudgetState> budgets() const;
  std::int64_t primary_active() const;
  bool any_live(policy::ReplicaSet besides = {}) const;
  std::size_t session_count() const;
  std::map<std::string, std::size_t, std::less<>> sessions_by_host() const;

 private:
  struct Table {
    Table(const policy::PoolConfig& pools, policy::AdmissionQueue::RoundTripsOf round_trips)
        : assignment(pools), queue(assignment, std::move(round_trips)) {}
    policy::Assignment assignment;
    policy::AdmissionQueue queue;
  };
  // Waiters that have a slot and must be told of it once the lock is free.
  struct Grants {
    Waiter* first = nullptr;
    Waiter* last = nullptr;
  };
  static std::chrono::nanoseconds steady_now();

  Table& table(Servers servers) noexcept { return servers == Servers::Primary ? primary_ : replicas_; }
  void set_limits(AdmissionLimits limits);
  bool is_paused(std::string_view database) const { return paused_ && paused_(database); }
  using UsageByName = std::map<std::string, Usage, std::less<>>;

  UsageByName& by(Scope scope) { return by_scope_[static_cast<std::size_t>(scope)]; }
  const UsageByName& by(Scope scope) const { return by_scope_[static_cast<std::size_t>(scope)]; }
  std::string_view name_in(Scope scope, const SessionTag& tag) const;
  std::size_t session_limit(Scope scope, std::string_view name) const;
  std::size_t slot_limit(Scope scope, std::string_view name) const;
  void drop_if_unused(Scope scope, Usage* usage);
  void count_slot(const Usages& usages, int step);
  void take_back(const Granted& granted);
  std::int64_t slots() const;
  Granted slot(const SessionTag& tag, std::optional<policy::BudgetId> budget, Servers servers,
               const policy::Decision& decision);
  void record(const SessionTag& tag, const policy::Decision& decision);
  void serve(Grants& grants);
  static void deliver(Grants grants);
  template <class Change>
  void change(Change apply);

  mutable std::mutex mutex_;
  const Now now_;
  Table replicas_;
  Table primary_;  // one replica, that all classes share
  policy::Budgets budgets_;
  RoundTrips round_trips_;
  AdmissionLimits limits_;
  Paused paused_;
  std::function<void()> search_due_;
  bool search_asked_ = false;  // it was called since search_sizes() began
  std::array<UsageByName, kScopeCount> by_scope_;
  std::vector<DecisionRecord>
      decisions_;  // a ring: the next one's place is decision_number_ % kDecisionsKept
  std::uint64_t decision_number_ = 0;
  std::deque<RoleChangeRecord> role_changes_;
  std::uint64_t role_change_number_ = 0;
};

}  // namespace sluice::router
