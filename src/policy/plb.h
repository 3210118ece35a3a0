#pragma once

#include "sluice/policy/assignment_policy.h"

namespace sluice::policy {

// Priority-aware load balancing for N ordered classes; for two it is exactly the paper's Algorithm 1.
// Source: "PLB: Priority-Aware Load Balancing for Replicated Databases under Constrained Resources" (Djeffal,
// Bourhis,
//         Rouvoy, 2026), Algorithm 1. theta_c, tau_c, kappa_c, K_c are ClassParams' saturation, watermark,
//         floor and target; R_c is the pool of class c, a borrowed replica being in its borrower's; *ordering
//         load* is load_c of a native replica, the total load of a borrowed one.
// Steps of an admission of class c; ties always go to the earlier replica of the configuration:
//  0. Returns, borrowing classes in order, replicas in order, again from the start after each: a borrowed
//  replica
//     without sessions of its borrower goes back if another live replica of that pool is below tau.
//     Destination: the first other class below its target, else Mixed.
//  1. Own pool: the least ordering load among replicas with load_c < theta_c. Where ReplicaOrder::Nearest is
//     configured, the nearest of those within its slack, where SitaE or SitaV is, the one for its size, here
//     and in step 5: not of the paper. Which pool it is, and so all borrowing, stays as the loads say: one
//     whose replica lacks a slot while another of the pool has one waits.
//  2. Mixed: fewest sessions of classes above; for every class but the lowest, those without c first and then
//  fewest
//     below; for the lowest, fewest of its own.
//  3. Lower classes, the lowest first, whose pool stays at its floor: a replica with total load below the
//  least
//     ordering load of R_c (any, if R_c is empty); below its watermark first, then the least total load.
//  4. Higher classes, the nearest first, whose pool stays at its target: a replica without sessions of any
//  class above
//     c; the least total load.
//  5. The least ordering load of R_c although saturated; if R_c is empty the least total load of all.
// Replicas without a slot (max_active; not of the paper) are no candidates and bound nothing, but are
// counted; if in step 5 R_c has nothing but such ones, the class waits for them.
class Plb final : public AssignmentPolicy {
 public:
  PolicyKind kind() const noexcept override { return PolicyKind::Plb; }
  SizeScope size_scope() const noexcept override { return SizeScope::OwnPool; }
  Choice choose(const Arrival&, Pools&, Rng&) override;
};

}  // namespace sluice::policy
