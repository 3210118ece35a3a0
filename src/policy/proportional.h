#pragma once

#include "sluice/policy/assignment_policy.h"

namespace sluice::policy {

// Continuous shares instead of whole replicas. The live replicas lie side by side in configuration order,
// each as long as its weight, K in all; each class c owns a stretch of length K w_c n_c / sum(w n) of them,
// in class order, where w is the weight of a class and n its open sessions on all replicas, the newcomer
// included. A replica's share for c is what of it lies in c's stretch. The session goes to the candidate with
// the least (sessions of c on it + 1) / share among those with a share; the earlier on a tie. Pools are
// ignored and left. Shape:  a live replica that the session failed on, or that has no slot, keeps its place.
// Where no replica
//         with a share is a candidate, the session waits if one of them lacks but a slot, else it gets the
//         least loaded of all (FallbackAny).
// Exact:  integers throughout, so that equal shares are ties on every machine.
// Source: ours, as an answer to what whole replicas cost in PLB: docs/assignment.md.
class Proportional final : public AssignmentPolicy {
 public:
  PolicyKind kind() const noexcept override { return PolicyKind::Proportional; }
  Choice choose(const Arrival&, Pools&, Rng&) override;
};

}  // namespace sluice::policy
