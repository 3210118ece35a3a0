#include "policy/random_two_choices.h"

#include <algorithm>

namespace sluice::policy {
namespace {

// The n-th candidate in configuration order, from 0.
ReplicaId candidate_at(const Pools& pools, std::uint64_t n) {
  for (const ReplicaId r : pools.replicas())
    if (pools.candidate(r) && n-- == 0) return r;
  SLUICE_ASSERT(false);  // the caller has counted more than n candidates
  return ReplicaId();
}

}  // namespace

Choice RandomTwoChoices::choose(const Arrival&, Pools& pools, Rng& rng) {
  const auto replicas = pools.replicas();
  const auto count = static_cast<std::uint64_t>(
      std::count_if(replicas.begin(), replicas.end(), [&](ReplicaId r) { return pools.candidate(r); }));
  if (count == 0) return {};
  if (count == 1) return {candidate_at(pools, 0), Outcome::Own, {}};
  const std::uint64_t one = rng.below(count);
  std::uint64_t other = rng.below(count - 1);
  if (other >= one) ++other;
  const ReplicaId earlier = candidate_at(pools, std::min(one, other));
  const ReplicaId later = candidate_at(pools, std::max(one, other));
  return {pools.total_load(later) < pools.total_load(earlier) ? later : earlier, Outcome::Own, {}};
}

}  // namespace sluice::policy
