#pragma once

#include <memory>

#include "sluice/policy/decision.h"
#include "sluice/policy/pool_config.h"
#include "sluice/policy/pools.h"
#include "sluice/policy/rng.h"

namespace sluice::policy {

// What a policy chose; Outcome::Refused when no replica is a candidate, and then `replica` means nothing.
struct Choice {
  ReplicaId replica;
  Outcome outcome = Outcome::Refused;
  Evidence evidence;
  bool by_size = false;
};

// Among which replicas a policy divides sizes, where ReplicaOrder says so.
enum class SizeScope {
  None,  // it does not
  OwnPool,
  All,
};

// A rule that gives each arriving session a replica. Deterministic but for the rng; changes roles, never
// loads. Shape:  the arrival's class is configured. Only candidates (Pools::candidate) may be chosen. Cost:
// O(replicas x classes) per call, no allocation after reconfigured().
class AssignmentPolicy {
 public:
  virtual ~AssignmentPolicy() = default;
  virtual PolicyKind kind() const noexcept = 0;
  virtual SizeScope size_scope() const noexcept { return SizeScope::None; }
  virtual Choice choose(const Arrival&, Pools&, Rng&) = 0;
  // Called once before the first choice and after each reload that keeps this policy.
  virtual void reconfigured(const Pools&) {}
};

std::unique_ptr<AssignmentPolicy> make_policy(PolicyKind);

}  // namespace sluice::policy
