#include "policy/plb.h"

#include <array>
#include <limits>

#include "policy/least.h"

namespace sluice::policy {
namespace {

using Order = std::array<std::int64_t, 3>;

std::int64_t ordering_load(const Pools& pools, ReplicaId r, ClassId c) {
  return pools.borrowed(r) ? pools.total_load(r) : pools.load(r, c);
}

bool in_own_pool(const Pools& pools, ReplicaId r, ClassId c) {
  return pools.pool(r) == PoolId(c) && pools.candidate(r);
}

Preferred best_of_own(const Pools& pools, const Arrival& arrival, std::int64_t load_limit) {
  const ClassId c = arrival.session_class;
  return preferred(
      pools, arrival, c,
      [&](ReplicaId r) { return in_own_pool(pools, r, c) && pools.load(r, c) < load_limit; },
      [&](ReplicaId r) { return ordering_load(pools, r, c); });
}

// Some other live replica of c's pool is below the watermark.
bool pressure_eased(const Pools& pools, ClassId c, ReplicaId except) {
  for (const ReplicaId r : pools.replicas())
    if (r != except && pools.member(r, c) && pools.load(r, c) < pools.watermark(c)) return true;
  return false;
}

// Whether any replica may be returnable at all: mostly not, and then one scan has told.
bool any_borrowed_in_vain(const Pools& pools) {
  for (const ReplicaId r : pools.replicas())
    if (pools.borrowed(r) && pools.live(r) && pools.load(r, pools.pool(r).owner()) == 0) return true;
  return false;
}

std::optional<ReplicaId> returnable(const Pools& pools, ClassId c) {
  for (const ReplicaId r : pools.replicas())
    if (pools.borrowed(r) && pools.member(r, c) && pools.load(r, c) == 0 && pressure_eased(pools, c, r))
      return r;
  return std::nullopt;
}

PoolId home_after(const Pools& pools, ClassId borrower) {
  for (const ClassId d : pools.classes())
    if (d != borrower && pools.live_count(d) < pools.params(d).target) return d;
  return PoolId::mixed();
}

// Each return makes a replica native, so this ends after at most as many rounds as there are replicas.
void apply_returns(Pools& pools) {
  for (bool again = any_borrowed_in_vain(pools); again;) {
    again = false;
    for (const ClassId c : pools.classes()) {
      const auto r = returnable(pools, c);
      if (!r) continue;
      pools.change_role(*r, home_after(pools, c), ChangeKind::Return);
      again = true;
      break;
    }
  }
}

std::optional<ReplicaId> mixed_donor(const Pools& pools, ClassId c) {
  const bool lowest = pools.classes().back() == c;
  return least(
      pools, [&](ReplicaId r) { return pools.pool(r).is_mixed() && pools.candidate(r); },
      [&](ReplicaId r) -> Order {
        const std::int64_t above = pools.load_above(r, c);
        const std::int64_t own = pools.load(r, c);
        if (lowest) return {above, pools.total_load(r) - above, 0};
        return {above, own > 0 ? 1 : 0, pools.total_load(r) - above - own};
      });
}

std::optional<ReplicaId> lower_donor(const Pools& pools, ClassId c) {
  const auto best = least(
      pools, [&](ReplicaId r) { return in_own_pool(pools, r, c); },
      [&](ReplicaId r) { return ordering_load(pools, r, c); });
  const std::int64_t limit = best ? ordering_load(pools, *best, c) : std::numeric_limits<std::int64_t>::max();
  const auto classes = pools.classes();
  for (std::size_t rank = classes.size(); --rank > pools.rank(c);) {
    const ClassId d = classes[rank];
    if (pools.live_count(d) - 1 < pools.params(d).floor) continue;
    const auto donor = least(
        pools, [&](ReplicaId r) { return in_own_pool(pools, r, d) && pools.total_load(r) < limit; },
        [&](ReplicaId r) -> Order {
          return {pools.load(r, d) >= pools.watermark(d) ? 1 : 0, pools.total_load(r), 0};
        });
    if (donor) return donor;
  }
  return std::nullopt;
}

std::optional<ReplicaId> higher_donor(const Pools& pools, ClassId c) {
  const auto classes = pools.classes();
  for (std::size_t rank = pools.rank(c); rank-- > 0;) {
    const ClassId d = classes[rank];
    if (pools.live_count(d) - 1 < pools.params(d).target) continue;
    const auto donor = least(
        pools, [&](ReplicaId r) { return in_own_pool(pools, r, d) && pools.load_above(r, c) == 0; },
        [&](ReplicaId r) { return pools.total_load(r); });
    if (donor) return donor;
  }
  return std::nullopt;
}

Evidence evidence_of(const Pools& pools, ClassId c) {
  Evidence seen;
  for (const ReplicaId r : pools.replicas()) {
    if (!pools.member(r, c)) continue;
    ++seen.pool_size;
    if (pools.candidate(r) && pools.load(r, c) < pools.params(c).saturation) ++seen.with_headroom;
  }
  return seen;
}

}  // namespace

Choice Plb::choose(const Arrival& arrival, Pools& pools, Rng&) {
  const ClassId c = arrival.session_class;
  apply_returns(pools);
  const Evidence seen = evidence_of(pools, c);
  const auto refused = [&]() -> Choice { return {ReplicaId(), Outcome::Refused, seen}; };
  const Preferred own = best_of_own(pools, arrival, pools.params(c).saturation);
  if (own.waits) return refused();
  if (own.replica) return {*own.replica, Outcome::Own, seen, own.by_size};

  const auto borrow = [&](ReplicaId r, Outcome outcome) -> Choice {
    pools.change_role(r, c, ChangeKind::Borrow);
    return {r, outcome, seen};
  };
  if (const auto r = mixed_donor(pools, c)) return borrow(*r, Outcome::BorrowedMixed);
  if (const auto r = lower_donor(pools, c)) return borrow(*r, Outcome::BorrowedLower);
  if (const auto r = higher_donor(pools, c)) return borrow(*r, Outcome::BorrowedHigher);

  const Preferred crowded = best_of_own(pools, arrival, std::numeric_limits<std::int64_t>::max());
  if (crowded.waits) return refused();
  if (crowded.replica) return {*crowded.replica, Outcome::Fallback, seen, crowded.by_size};
  if (!awaits_own(pools, c))
    if (const auto r = least_total_load(pools)) return {*r, Outcome::FallbackAny, seen};
  return refused();
}

}  // namespace sluice::policy
