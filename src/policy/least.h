#pragma once

#include <chrono>
#include <cstddef>
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

struct Preferred {
  std::optional<ReplicaId> replica;
  bool waits = false;    // for the slot of a certain replica, though another that would do has one
  bool by_size = false;  // for its size, not for its load
};

// The least loaded of the hosts that take the session's size; where none of them will do, one of them that
// only lacks a slot is waited for; else the next that takes larger sizes, then the next that takes smaller
// ones. `members`: the hosts in order, and the weight of each.
template <class Accept, class Load>
Preferred by_size(const Pools& pools, const Pools::SizeHosts& hosts, Accept accept, Load load) {
  Preferred found{std::nullopt, false, true};
  Weighed best;
  for (std::size_t i = hosts.range.first; i <= hosts.range.last; ++i) {
    const ReplicaId r = hosts.members[i];
    if (pools.awaited(r)) found.waits = true;
    if (!accept(r)) continue;
    const Weighed here{load(r), pools.weight(r)};
    if (found.replica && !(here < best)) continue;
    found.replica = r;
    best = here;
  }
  if (found.replica) found.waits = false;
  if (found.replica || found.waits) return found;
  for (std::size_t i = hosts.range.last + 1; i < hosts.members.size(); ++i)
    if (accept(hosts.members[i])) return {hosts.members[i], false, true};
  for (std::size_t i = hosts.range.first; i-- > 0;)
    if (accept(hosts.members[i])) return {hosts.members[i], false, true};
  return {};
}

// The one a session gets among the replicas that pass `accept`, in the order that is configured: the least
// `load` for its weight; or the nearest to the session's host of those whose load is at most nearest_slack
// above the least; or the one for its size. Of equally near ones, and where no round trip or too little of
// sizes is known, the less loaded; then the earlier. `pool`: whose members those that pass are; none: all
// replicas.
template <class Accept, class Load>
Preferred preferred(const Pools& pools, const Arrival& arrival, std::optional<ClassId> pool, Accept accept,
                    Load load) {
  const auto lightest = least(pools, accept, [&](ReplicaId r) -> Weighed {
    return {load(r), pools.weight(r)};
  });
  if (!lightest || pools.order() == ReplicaOrder::LeastLoaded) return {lightest};
  if (is_by_size(pools.order())) {
    const auto hosts = pools.size_hosts(pool, size_step(arrival.size));
    return hosts ? by_size(pools, *hosts, accept, load) : Preferred{lightest};
  }
  const std::int64_t least_load = load(*lightest), its_weight = pools.weight(*lightest);
  const auto near_least = [&](ReplicaId r) {
    return (load(r) - pools.nearest_slack()) * its_weight <= least_load * pools.weight(r);
  };
  using Key = std::pair<std::chrono::nanoseconds, Weighed>;
  return {least(
      pools, [&](ReplicaId r) { return accept(r) && near_least(r); },
      [&](ReplicaId r) -> Key {
        const bool known =
            r.value() < arrival.round_trips.size() && arrival.round_trips[r.value()].count() > 0;
        return {known ? arrival.round_trips[r.value()] : std::chrono::nanoseconds::max(),
                Weighed{load(r), pools.weight(r)}};
      })};
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
