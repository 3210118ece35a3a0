#include "router/replay_positions.h"

#include <algorithm>
#include <iterator>

namespace sluice::router {

void ReplayPositions::set(policy::ReplicaId replica, std::optional<std::uint64_t> position) {
  const std::lock_guard lock(mutex_);
  if (position)
    positions_.insert_or_assign(replica, *position);
  else
    positions_.erase(replica);
}

std::vector<policy::ReplicaId> ReplayPositions::behind(std::uint64_t position,
                                                       const std::vector<policy::ReplicaId>& replicas) const {
  std::vector<policy::ReplicaId> behind;
  const std::lock_guard lock(mutex_);
  std::copy_if(replicas.begin(), replicas.end(), std::back_inserter(behind), [&](policy::ReplicaId replica) {
    const auto known = positions_.find(replica);
    return known == positions_.end() || known->second < position;
  });
  return behind;
}

}  // namespace sluice::router
