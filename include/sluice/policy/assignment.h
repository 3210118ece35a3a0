#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/policy/assignment_policy.h"
#include "sluice/policy/size_intervals.h"

namespace sluice::policy {

// Replicas a session has already failed to connect to: few, in any order.
using ReplicaSet = std::span<const ReplicaId>;

struct ReplicaSnapshot {
  ReplicaId id;
  std::string name;
  PoolId pool = PoolId::mixed();
  std::string pool_name;
  bool borrowed = false;
  bool up = true;
  bool draining = false;
  bool configured = true;           // false: removed by a reload, still hosting sessions
  std::vector<std::int64_t> loads;  // one per class, in the snapshot's order of classes
  std::int64_t total_load = 0;      // with sessions of removed classes
};

struct ClassSnapshot {
  ClassId id;
  ClassParams params;
  std::int64_t live_replicas = 0;                              // |R_c|
  std::int64_t sessions = 0;                                   // on all replicas, the removed ones too
  std::array<std::uint64_t, kOutcomes.size()> decisions = {};  // by outcome, since start
};

struct Snapshot {
  PolicyKind policy = PolicyKind::Plb;
  std::vector<ClassSnapshot> classes;     // highest first
  std::vector<ReplicaSnapshot> replicas;  // in configuration order, then the removed that still host sessions
  std::int64_t live_mixed = 0;            // |R_M|
  std::uint64_t borrowings = 0;           // role changes since start
  std::uint64_t returns = 0;
};

// Which replica takes which sizes.
struct SizeIntervalSnapshot {
  ReplicaId replica;
  SizeIntervals::Interval interval;
};
// Of a class's own pool, or of all replicas.
struct SizePoolSnapshot {
  std::optional<ClassId> pool;
  bool known = false;
  std::uint64_t sizes = 0;                      // that have arrived
  double utilization = 0;                       // as arrivals found it
  std::vector<SizeIntervalSnapshot> intervals;  // the smallest first; none while too little is known
};

// Pools, policy and rng in one: what the router holds under its mutex and `sluice decide` drives from a file.
//
// Shape:  every admission and what it changes is one step. A session counts from its admission on; if its
// replica
//         cannot be reached, close() it and admit it again with that replica excluded: roles stay as they
//         are.
// Errors: ids never given out, and closing what is not open, are the caller's fault and end the program.
// Thread: none of its own; the caller serialises all calls.
// Cost:   admit() O(replicas x classes) without allocation, close() and set_*() O(1), the rest O(replicas x
// classes).
class Assignment {
 public:
  explicit Assignment(const PoolConfig&);

  // Chooses a replica and counts the session there, unless Outcome::Refused. An excluded replica is no
  // candidate and bounds nothing, but is still a member of its pool: it counts in pool sizes and may justify
  // a return. A replica without a slot is treated alike, but when a session is refused that could have had it
  // (of a class's own pool: always, for the class does not spill to all replicas as long as it has live
  // ones), the decision says that it waits, and no role has changed.
  Decision admit(const Arrival&, ReplicaSet excluded = {});
  // The two halves of admit(), for who may have to ask for the same arrival again: what its size tells, once,
  // and the decision. True: replicas may take other sizes from now on, so that who waits may be able to go.
  bool arrived(const Arrival&);
  Decision place(const Arrival&, ReplicaSet excluded = {});
  // The end of a session that admit() counted: replica and counted_in of its decision.
  void close(ReplicaId, ClassId counted_in);

  void set_up(ReplicaId, bool up);
  void set_draining(ReplicaId, bool draining);
  // Until the next reload, which brings its own. For PolicyKind::Proportional.
  void set_class_weight(ClassId, Weight);

  // A reload: see Pools::reconfigure. Open sessions stay counted; the same policy keeps its cursors, another
  // starts afresh; the rng starts again when the seed changes. problem_of(config) must be nullopt.
  void reconfigure(const PoolConfig&);

  // Puts a replica into a state without a decision, to start from somewhere else than the initial pools.
  void preset(ReplicaId, PoolId, bool borrowed, std::span<const std::int64_t> loads_in_class_order);

  const Pools& pools() const noexcept { return pools_; }
  PolicyKind policy() const noexcept { return policy_->kind(); }
  std::optional<ReplicaId> find_replica(std::string_view name) const noexcept {
    return pools_.find_replica(name);
  }
  std::optional<ClassId> find_class(std::string_view name) const noexcept { return pools_.find_class(name); }
  // Whether sizes decide which replica of a pool a session gets, once they are known.
  bool by_size() const noexcept {
    return is_by_size(pools_.order()) && policy_->size_scope() != SizeScope::None;
  }
  // The replicas that take an arrival's size at this moment, as places among the pool's: arrivals of a class
  // for which it is the same get the same answers. Nothing where its size does not count. O(replicas).
  std::optional<SizeIntervals::Range> size_range(const Arrival&) const;
  std::vector<SizePoolSnapshot> size_pools() const;
  // As Pools has them: for who holds a lock, under which no search is to be made.
  void set_size_search(SizeIntervals::Search search) noexcept { pools_.set_size_search(search); }
  bool has_size_question() const noexcept { return by_size() && pools_.has_size_question(); }
  std::optional<Pools::SizeQuestion> take_size_question() { return pools_.take_size_question(); }
  // True: as arrived().
  bool take_size_answer(const Pools::SizeQuestion& asked, const SizeIntervals::Answer& answer) {
    return pools_.take_size_answer(asked, answer);
  }
  Snapshot snapshot() const;
  // Open sessions of a class on all replicas, removed ones too: for limits per class. O(replicas).
  std::int64_t session_count(ClassId) const noexcept;

 private:
  void count(const Decision&);
  ClassId counted_class(ClassId) const noexcept;
  std::optional<ClassId> size_pool(ClassId) const noexcept;

  Pools pools_;
  std::unique_ptr<AssignmentPolicy> policy_;
  std::uint64_t seed_;
  Rng rng_;
  std::vector<std::array<std::uint64_t, kOutcomes.size()>> decisions_;  // by ClassId
  std::uint64_t borrowings_ = 0;
  std::uint64_t returns_ = 0;
};

}  // namespace sluice::policy
