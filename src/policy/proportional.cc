#include "policy/proportional.h"

#include <algorithm>

#include "policy/least.h"

namespace sluice::policy {
namespace {

// Sessions x weights x replicas pass 64 bits: up to 65,536 replicas of weight 1,000 with a billion sessions
// of each of 64 classes of weight 1,000 keep every product below 2^113.
__extension__ using Wide = __int128;

std::int64_t sessions_of(const Pools& pools, ClassId c) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < pools.known_replica_count(); ++i)
    sum += pools.load(ReplicaId(static_cast<std::uint32_t>(i)), c);
  return sum;
}

// A class's stretch of the replicas, in units of which a replica of weight 1 has `unit`.
struct Stretch {
  Wide first = 0, end = 0;
  Wide unit = 0;  // sum(w n)
};

Stretch stretch_of(const Pools& pools, ClassId arrived) {
  Wide before = 0, own = 0, all = 0;
  for (const ClassId c : pools.classes()) {
    const std::int64_t sessions = sessions_of(pools, c) + (c == arrived ? 1 : 0);
    const Wide weighed = Wide{pools.class_weight(c).thousandths()} * sessions;
    if (c == arrived) {
      before = all;
      own = weighed;
    }
    all += weighed;
  }
  std::int64_t length = 0;
  for (const ReplicaId r : pools.replicas())
    if (pools.live(r)) length += pools.weight(r);
  return {length * before, length * (before + own), all};
}

// What the class would have on a replica, for each unit of its share of it.
struct Crowding {
  std::int64_t sessions = 0;  // with the newcomer
  Wide share = 1;
  friend bool operator<(const Crowding& a, const Crowding& b) noexcept {
    return a.sessions * b.share < b.sessions * a.share;
  }
};

}  // namespace

Choice Proportional::choose(const Arrival& arrival, Pools& pools, Rng&) {
  const ClassId c = arrival.session_class;
  const Stretch stretch = stretch_of(pools, c);
  std::optional<ReplicaId> best;
  Crowding least_crowding;
  bool awaits = false;
  Wide left = 0;
  for (const ReplicaId r : pools.replicas()) {
    if (!pools.live(r)) continue;
    const Wide right = left + pools.weight(r) * stretch.unit;
    const Wide share = std::min(right, stretch.end) - std::max(left, stretch.first);
    left = right;
    if (share <= 0) continue;
    awaits = awaits || pools.awaited(r);
    if (!pools.candidate(r)) continue;
    const Crowding crowding{pools.load(r, c) + 1, share};
    if (best && !(crowding < least_crowding)) continue;
    best = r;
    least_crowding = crowding;
  }
  if (best) return {*best, Outcome::Own, {}};
  if (!awaits)
    if (const auto any = least_total_load(pools)) return {*any, Outcome::FallbackAny, {}};
  return {};
}

}  // namespace sluice::policy
