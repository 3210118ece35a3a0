#pragma once

#include <cstddef>
#include <vector>

#include "sluice/policy/assignment_policy.h"

namespace sluice::policy {

// One cursor over the configuration's order; passes over what is no candidate. Pools and roles are ignored
// and left.
class RoundRobin final : public AssignmentPolicy {
 public:
  PolicyKind kind() const noexcept override { return PolicyKind::RoundRobin; }
  Choice choose(const Arrival&, Pools&, Rng&) override;

 private:
  std::size_t next_ = 0;  // place in Pools::replicas() to try first, modulo their number
};

// The fewest sessions of all classes together; the earlier in configuration order on a tie. With
// ReplicaOrder::Nearest the nearest of those within its slack; with SitaE or SitaV the one for its size.
class LeastLoaded final : public AssignmentPolicy {
 public:
  PolicyKind kind() const noexcept override { return PolicyKind::LeastLoaded; }
  SizeScope size_scope() const noexcept override { return SizeScope::All; }
  Choice choose(const Arrival&, Pools&, Rng&) override;
};

// The paper's static split (rRR + fRR): each class goes round its own pool, with a cursor of its own; Mixed
// replicas are unused. A class whose pool offers no candidate gets the least loaded of all (FallbackAny), its
// cursor staying.
class Dedicated final : public AssignmentPolicy {
 public:
  PolicyKind kind() const noexcept override { return PolicyKind::Dedicated; }
  Choice choose(const Arrival&, Pools&, Rng&) override;
  void reconfigured(const Pools&) override;

 private:
  std::vector<std::size_t> next_;  // by ClassId; as RoundRobin's
};

}  // namespace sluice::policy
