#include "policy/baselines.h"

#include "policy/least.h"

namespace sluice::policy {
namespace {

// The first replica at or after `next`, going round once, that passes; `next` then stands behind it.
template <class Accept>
std::optional<ReplicaId> take_turn(const Pools& pools, std::size_t& next, Accept accept) {
  const auto replicas = pools.replicas();
  for (std::size_t i = 0; i < replicas.size(); ++i) {
    const std::size_t place = (next + i) % replicas.size();
    if (!pools.candidate(replicas[place]) || !accept(replicas[place])) continue;
    next = place + 1;
    return replicas[place];
  }
  return std::nullopt;
}

Choice own_or_refused(std::optional<ReplicaId> r) {
  return r ? Choice{*r, Outcome::Own, {}} : Choice{};
}

}  // namespace

Choice RoundRobin::choose(const Arrival&, Pools& pools, Rng&) {
  return own_or_refused(take_turn(pools, next_, [](ReplicaId) { return true; }));
}

Choice LeastLoaded::choose(const Arrival& arrival, Pools& pools, Rng&) {
  const Preferred best = preferred(
      pools, arrival, std::nullopt, [&](ReplicaId r) { return pools.candidate(r); },
      [&](ReplicaId r) { return pools.total_load(r); });
  Choice choice = own_or_refused(best.replica);
  choice.by_size = best.by_size;
  return choice;
}

void Dedicated::reconfigured(const Pools& pools) {
  next_.resize(pools.known_class_count(), 0);
}

Choice Dedicated::choose(const Arrival& arrival, Pools& pools, Rng&) {
  const PoolId own(arrival.session_class);
  std::size_t& next = next_[arrival.session_class.value()];
  if (const auto r = take_turn(pools, next, [&](ReplicaId x) { return pools.pool(x) == own; }))
    return {*r, Outcome::Own, {}};
  if (!awaits_own(pools, arrival.session_class))
    if (const auto r = least_total_load(pools)) return {*r, Outcome::FallbackAny, {}};
  return {};
}

}  // namespace sluice::policy
