#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/policy/decision.h"
#include "sluice/policy/ids.h"
#include "sluice/policy/pool_config.h"
#include "sluice/policy/size_intervals.h"

#include "base/assert.h"

namespace sluice::policy {

// The table a policy decides on: which pool each replica is in, the sessions it hosts, and whether it is
// live.
//
// Shape:  `load` counts open sessions, per replica and class. A replica has one pool, native or borrowed. It
// is live
//         when configured, up and not draining: only live replicas are in replica counts, minima and
//         candidate sets. Orders are those of the configuration: replicas() decides ties, classes() is
//         highest priority first. What a reload removed stays as *retired*, in neither order, so that its
//         sessions can still be closed. A retired class's sessions stay in total_load(), where they weigh as
//         sessions of a class below all others.
// Errors: an unknown id, a load below zero or an invalid configuration are the caller's fault and end the
// program. Cost:   O(1) unless said otherwise. Allocates in reconfigure() only. Not synchronised.
class Pools {
 public:
  explicit Pools(const PoolConfig& config) { reconfigure(config); }

  // Replicas in the old and the new configuration keep pool and borrowed mark, unless that pool's class is
  // gone; others start native: along the whole list in order, the first class gets its target, then the next
  // class, the rest are Mixed, and a pool given for a replica overrides its share. Loads and marks stay with
  // the name. O(replicas x classes).
  void reconfigure(const PoolConfig&);

  std::span<const ReplicaId> replicas() const noexcept { return replica_order_; }
  std::span<const ClassId> classes() const noexcept { return class_order_; }
  std::size_t known_replica_count() const noexcept {
    return replicas_.size();
  }  // with the retired; ids are below it
  std::size_t known_class_count() const noexcept { return classes_.size(); }

  std::optional<ReplicaId> find_replica(std::string_view name) const noexcept;  // also retired; O(replicas)
  std::optional<ClassId> find_class(std::string_view name) const noexcept;      // also retired; O(classes)
  bool configured(ReplicaId r) const noexcept { return at(r).configured; }
  bool configured(ClassId c) const noexcept { return rank_[index(c)] != kRetired; }
  std::size_t rank(ClassId c) const noexcept {
    return rank_[index(c)];
  }  // 0 = highest; only of a configured class
  const std::string& name(ReplicaId r) const noexcept { return names_[at_index(r)]; }
  const std::string& name(ClassId c) const noexcept { return classes_[index(c)].name; }
  std::string_view pool_name(PoolId) const noexcept;
  const ClassParams& params(ClassId c) const noexcept { return classes_[index(c)]; }
  std::int64_t watermark(ClassId c) const noexcept { return watermarks_[index(c)]; }
  Weight class_weight(ClassId c) const noexcept { return classes_[index(c)].weight; }
  ReplicaOrder order() const noexcept { return order_; }
  std::int64_t nearest_slack() const noexcept { return nearest_slack_; }

  PoolId pool(ReplicaId r) const noexcept { return at(r).pool; }
  bool borrowed(ReplicaId r) const noexcept { return at(r).borrowed; }
  std::int64_t weight(ReplicaId r) const noexcept { return at(r).weight; }
  bool up(ReplicaId r) const noexcept { return at(r).up; }
  bool draining(ReplicaId r) const noexcept { return at(r).draining; }
  bool live(ReplicaId r) const noexcept { return live(at(r)); }
  std::int64_t max_active(ReplicaId r) const noexcept { return at(r).slots == kUnlimited ? 0 : at(r).slots; }
  // Below its max_active: takes one more.
  bool has_slot(ReplicaId r) const noexcept { return has_slot(at(r)); }
  // Live, not one this session has already failed on, and with a slot.
  bool candidate(ReplicaId r) const noexcept { return reachable(at(r)) && has_slot(at(r)); }
  // Would be a candidate if it had a slot: worth waiting for.
  bool awaited(ReplicaId r) const noexcept { return reachable(at(r)) && !has_slot(at(r)); }
  std::int64_t load(ReplicaId r, ClassId c) const noexcept {
    return loads_[at_index(r) * classes_.size() + index(c)];
  }
  std::int64_t total_load(ReplicaId r) const noexcept { return at(r).total; }
  // Sessions of the configured classes above c. O(classes).
  std::int64_t load_above(ReplicaId, ClassId c) const noexcept;
  // Live replicas in a pool. O(replicas).
  std::int64_t live_count(PoolId) const noexcept;
  // Live and in the pool.
  bool member(ReplicaId r, PoolId p) const noexcept { return at(r).pool == p && live(at(r)); }

  void add_session(ReplicaId, ClassId);
  void remove_session(ReplicaId, ClassId);
  void set_load(ReplicaId, ClassId, std::int64_t load);  // 0 <= load <= kParameterMax
  void set_role(ReplicaId, PoolId, bool borrowed);       // outside of any decision
  void set_class_weight(ClassId c, Weight weight) { classes_[index(c)].weight = weight; }
  void set_up(ReplicaId r, bool up) { at(r).up = up; }
  void set_draining(ReplicaId r, bool draining) { at(r).draining = draining; }

  // Sizes that arrive for a class's pool, or for all replicas; ReplicaOrder SitaE and SitaV alone. `pool`:
  // the class, or none. O(replicas).
  // True: replicas may take other sizes from now on.
  bool add_size(std::optional<ClassId> pool, double seconds);
  // See SizeIntervals: where its search is made, for all pools.
  void set_size_search(SizeIntervals::Search search) noexcept { size_search_ = search; }
  struct SizeQuestion {
    std::size_t pool;
    SizeIntervals::Question question;
  };
  bool has_size_question() const noexcept;
  std::optional<SizeQuestion> take_size_question();
  bool take_size_answer(const SizeQuestion&, const SizeIntervals::Answer&);
  // Nullptr before the first.
  const SizeIntervals* sizes(std::optional<ClassId> pool) const noexcept;
  // Live replicas that take a pool's sizes, in order, and those among them that take the step's; nothing
  // while too little is known. The view holds until the next call. O(replicas).
  struct SizeHosts {
    std::span<const ReplicaId> members;
    std::span<const std::int64_t> weights;
    SizeIntervals::Range range;
  };
  std::optional<SizeHosts> size_hosts(std::optional<ClassId> pool, SizeStep step) const;

  // For one decision: forgets the last one's changes and exclusions. Unknown or retired ids are passed over.
  void begin_decision(std::span<const ReplicaId> excluded);
  // Changes a role and notes it: a borrowed replica is marked so, a returned one is native.
  void change_role(ReplicaId, PoolId to, ChangeKind);
  std::span<const RoleChange> changes() const noexcept { return changes_; }
  // Takes back the changes of a decision that came to nothing. Only returns can have been made by then.
  void undo_returns();

 private:
  struct Replica {
    std::int64_t total = 0;  // = sum of its row in loads_
    std::int64_t weight = 1;
    std::int64_t slots = kUnlimited;
    PoolId pool = PoolId::mixed();
    bool borrowed = false;
    bool up = true;
    bool draining = false;
    bool configured = false;
    bool excluded = false;
  };
  static constexpr std::size_t kRetired = static_cast<std::size_t>(-1);
  static constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max();

  static bool live(const Replica& r) noexcept { return r.configured && r.up && !r.draining; }
  static bool reachable(const Replica& r) noexcept { return live(r) && !r.excluded; }
  static bool has_slot(const Replica& r) noexcept { return r.total < r.slots; }
  std::size_t index(ClassId c) const noexcept {
    return SLUICE_ASSERT(c.value() < classes_.size()), c.value();
  }
  std::size_t at_index(ReplicaId r) const noexcept {
    return SLUICE_ASSERT(r.value() < replicas_.size()), r.value();
  }
  const Replica& at(ReplicaId r) const noexcept { return replicas_[at_index(r)]; }
  Replica& at(ReplicaId r) noexcept { return replicas_[at_index(r)]; }
  void reconfigure_classes(const std::vector<ClassParams>&);
  ReplicaId append_replica(const std::string& name);
  bool takes_sizes(ReplicaId r, std::optional<ClassId> pool) const noexcept {
    return pool ? member(r, PoolId(*pool)) : live(r);
  }

  ReplicaOrder order_ = ReplicaOrder::LeastLoaded;
  std::int64_t nearest_slack_ = 0;
  std::vector<Replica> replicas_;  // by ReplicaId
  std::vector<std::string> names_;
  std::vector<ClassParams> classes_;  // by ClassId, like the next two
  std::vector<std::size_t> rank_;     // place in class_order_, or kRetired
  std::vector<std::int64_t> watermarks_;
  std::vector<std::int64_t> loads_;  // replica-major, one row of classes_.size() per replica
  std::vector<ReplicaId> replica_order_;
  std::vector<ClassId> class_order_;
  std::vector<RoleChange>
      changes_;  // of the decision in progress; at most one return per replica, and one borrow
  std::vector<SizeIntervals> sizes_;  // of all replicas, then by ClassId; as far as there were any
  SizeIntervals::Search size_search_ = SizeIntervals::Search::AtOnce;
  mutable std::vector<ReplicaId> size_members_;     // of size_hosts()
  mutable std::vector<std::int64_t> size_weights_;  //
  std::vector<ReplicaId> excluded_;                 // whose flag begin_decision() must clear
};

}  // namespace sluice::policy
