#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "sluice/policy/ids.h"

namespace sluice::router {

// How far each replica has replayed the primary's WAL, as the health checks saw it last: a lower bound, as it
// only grows. Any thread.
class ReplayPositions {
 public:
  // Nothing: not known, or the replica is down.
  void set(policy::ReplicaId replica, std::optional<std::uint64_t> position);
  // Of `replicas`, those that may not have replayed up to `position`; in their order.
  std::vector<policy::ReplicaId> behind(std::uint64_t position,
                                        const std::vector<policy::ReplicaId>& replicas) const;

 private:
  mutable std::mutex mutex_;
  std::map<policy::ReplicaId, std::uint64_t> positions_;
};

}  // namespace sluice::router
