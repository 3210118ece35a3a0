#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <utility>

#include "sluice/policy/pools.h"

namespace sluice::policy {

// The replica that passes `accept` and has the least `key`, the earliest in configuration order on a tie.
template <class Accept, class Key>
std::optional<ReplicaId> least(const Pools& pools, Accept accept, Key key) {
  std::optional<ReplicaId> best;
  decltype(key(ReplicaId())) best_key{};
  for (const ReplicaId r : pools.replicas()) {
    if (!accept(r)) continue;
    const auto k = key(r);
    if (best && !(k < best_key)) continue;
    best = r;
    best_key = k;
  }
  return best;
}

// What a session would find where it is asking: sessions, itself included, for each unit of weight.
struct Weighed {
  std::int64_t load = 0, weight = 1;
  friend bool operator<(const Weighed& a, const Weighed& b) noexcept {
    return (a.load + 1) * b.weight < (b.load + 1) * a.weight;
  }
};

// The one a session gets among the replicas that pass `accept`, in the order that is configured: the least
// `load` for its weight; or the nearest to the session's host of those whose load is at most nearest_slack
// above the least. Of equally near ones, and where no round trip is known, the less loaded; then the earlier.
template <class Accept, class Load>
std::optional<ReplicaId> preferred(const Pools& pools, const Arrival& arrival, Accept accept, Load load) {
  const auto lightest = least(pools, accept, [&](ReplicaId r) -> Weighed {
    return {load(r), pools.weight(r)};
  });
  if (!lightest || pools.order() == ReplicaOrder::LeastLoaded) return lightest;
  const std::int64_t least_load = load(*lightest), its_weight = pools.weight(*lightest);
  const auto near_least = [&](ReplicaId r) {
    return (load(r) - pools.nearest_slack()) * its_weight <= least_load * pools.weight(r);
  };
  using Key = std::pair<std::chrono::nanoseconds, Weighed>;
  return least(
      pools, [&](ReplicaId r) { return accept(r) && near_least(r); },
      [&](ReplicaId r) -> Key {
        const bool known =
            r.value() < arrival.round_trips.size() && arrival.round_trips[r.value()].count() > 0;
        return {known ? arrival.round_trips[r.value()] : std::chrono::nanoseconds::max(),
                Weighed{load(r), pools.weight(r)}};
      });
}

// The class has a replica that only lacks a slot: it waits for that one, rather than crowd into the pools of
// others.
inline bool awaits_own(const Pools& pools, ClassId c) {
  for (const ReplicaId r : pools.replicas())
    if (pools.pool(r) == PoolId(c) && pools.awaited(r)) return true;
  return false;
}

inline std::optional<ReplicaId> least_total_load(const Pools& pools) {
  return least(
      pools, [&](ReplicaId r) { return pools.candidate(r); },
      [&](ReplicaId r) -> Weighed {
        return {pools.total_load(r), pools.weight(r)};
      });
}

}  // namespace sluice::policy
