#include "sluice/policy/assignment.h"

#include <algorithm>

namespace sluice::policy {

Assignment::Assignment(const PoolConfig& config)
    : pools_(config),
      policy_(make_policy(config.policy)),
      seed_(config.seed),
      rng_(config.seed),
      decisions_(pools_.known_class_count()) {
  policy_->reconfigured(pools_);
}

// One that a reload has removed counts as the lowest.
ClassId Assignment::counted_class(ClassId c) const noexcept {
  return pools_.configured(c) ? c : pools_.classes().back();
}

std::optional<ClassId> Assignment::size_pool(ClassId c) const noexcept {
  return policy_->size_scope() == SizeScope::OwnPool ? std::optional(counted_class(c)) : std::nullopt;
}

bool Assignment::arrived(const Arrival& arrival) {
  return by_size() && size_step(arrival.size) != kNoSizeStep &&
         pools_.add_size(size_pool(arrival.session_class), *arrival.size);
}

std::optional<SizeIntervals::Range> Assignment::size_range(const Arrival& arrival) const {
  if (!by_size()) return std::nullopt;
  const auto hosts = pools_.size_hosts(size_pool(arrival.session_class), size_step(arrival.size));
  return hosts ? std::optional(hosts->range) : std::nullopt;
}

std::vector<SizePoolSnapshot> Assignment::size_pools() const {
  std::vector<SizePoolSnapshot> all;
  if (!by_size()) return all;
  const auto add = [&](std::optional<ClassId> pool) {
    SizePoolSnapshot& row = all.emplace_back();
    row.pool = pool;
    const SizeIntervals* const sizes = pools_.sizes(pool);
    if (sizes == nullptr) return;
    row.known = sizes->known();
    row.sizes = sizes->count();
    row.utilization = sizes->utilization();
    const auto hosts = pools_.size_hosts(pool, 0);
    if (!hosts) return;
    const std::vector<SizeIntervals::Interval> intervals = sizes->intervals(hosts->weights);
    for (std::size_t i = 0; i < intervals.size(); ++i)
      row.intervals.push_back({hosts->members[i], intervals[i]});
  };
  if (policy_->size_scope() == SizeScope::All)
    add(std::nullopt);
  else
    for (const ClassId c : pools_.classes())
      add(c);
  return all;
}

Decision Assignment::admit(const Arrival& arrival, ReplicaSet excluded) {
  arrived(arrival);
  return place(arrival, excluded);
}

Decision Assignment::place(const Arrival& arrival, ReplicaSet excluded) {
  Arrival counted = arrival;
  counted.session_class = counted_class(arrival.session_class);
  pools_.begin_decision(excluded);
  const Choice choice = policy_->choose(counted, pools_, rng_);
  if (choice.outcome == Outcome::Refused) {
    const auto all = pools_.replicas();
    if (std::any_of(all.begin(), all.end(), [&](ReplicaId r) { return pools_.awaited(r); })) {
      const bool undone = !pools_.changes().empty();
      pools_.undo_returns();
      return {
          choice.replica, choice.outcome, counted.session_class, choice.evidence, true, undone, false, {}};
    }
  } else {
    pools_.add_session(choice.replica, counted.session_class);
  }
  const Decision decision{choice.replica, choice.outcome, counted.session_class, choice.evidence,
                          false,          false,          choice.by_size,        pools_.changes()};
  count(decision);
  return decision;
}

void Assignment::count(const Decision& decision) {
  ++decisions_[decision.counted_in.value()][static_cast<std::size_t>(decision.outcome)];
  for (const RoleChange& change : decision.changes)
    ++(change.kind == ChangeKind::Return ? returns_ : borrowings_);
}

void Assignment::close(ReplicaId r, ClassId counted_in) {
  pools_.remove_session(r, counted_in);
}

void Assignment::set_up(ReplicaId r, bool up) {
  pools_.set_up(r, up);
}

void Assignment::set_draining(ReplicaId r, bool draining) {
  pools_.set_draining(r, draining);
}

void Assignment::set_class_weight(ClassId c, Weight weight) {
  pools_.set_class_weight(c, weight);
}

void Assignment::reconfigure(const PoolConfig& config) {
  pools_.reconfigure(config);
  if (config.policy != policy_->kind()) policy_ = make_policy(config.policy);
  policy_->reconfigured(pools_);
  if (config.seed != seed_) rng_ = Rng(seed_ = config.seed);
  decisions_.resize(pools_.known_class_count());
}

void Assignment::preset(ReplicaId r, PoolId pool, bool borrowed, std::span<const std::int64_t> loads) {
  SLUICE_ASSERT(loads.size() == pools_.classes().size());
  pools_.set_role(r, pool, borrowed);
  for (std::size_t i = 0; i < loads.size(); ++i)
    pools_.set_load(r, pools_.classes()[i], loads[i]);
}

std::int64_t Assignment::session_count(ClassId c) const noexcept {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < pools_.known_replica_count(); ++i)
    sum += pools_.load(ReplicaId(static_cast<std::uint32_t>(i)), c);
  return sum;
}

Snapshot Assignment::snapshot() const {
  Snapshot out;
  out.policy = policy_->kind();
  out.live_mixed = pools_.live_count(PoolId::mixed());
  out.borrowings = borrowings_;
  out.returns = returns_;
  for (const ClassId c : pools_.classes()) {
    ClassSnapshot& row = out.classes.emplace_back();
    row.id = c;
    row.params = pools_.params(c);
    row.live_replicas = pools_.live_count(c);
    row.sessions = session_count(c);
    row.decisions = decisions_[c.value()];
  }
  const auto add = [&](ReplicaId r) {
    ReplicaSnapshot& row = out.replicas.emplace_back();
    row.id = r;
    row.name = pools_.name(r);
    row.pool = pools_.pool(r);
    row.pool_name = pools_.pool_name(row.pool);
    row.borrowed = pools_.borrowed(r);
    row.up = pools_.up(r);
    row.draining = pools_.draining(r);
    row.configured = pools_.configured(r);
    row.total_load = pools_.total_load(r);
    for (const ClassSnapshot& c : out.classes)
      row.loads.push_back(pools_.load(r, c.id));
  };
  for (const ReplicaId r : pools_.replicas())
    add(r);
  for (std::size_t i = 0; i < pools_.known_replica_count(); ++i)
    if (const ReplicaId r(static_cast<std::uint32_t>(i)); !pools_.configured(r) && pools_.total_load(r) > 0)
      add(r);
  return out;
}

}  // namespace sluice::policy
