#pragma once

#include <optional>

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

inline std::optional<ReplicaId> least_total_load(const Pools& pools) {
  return least(
      pools, [&](ReplicaId r) { return pools.candidate(r); },
      [&](ReplicaId r) { return pools.total_load(r); });
}

}  // namespace sluice::policy
