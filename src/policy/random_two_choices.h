#pragma once

#include "sluice/policy/assignment_policy.h"

namespace sluice::policy {

// Of two different candidates drawn at random the one with fewer sessions; the earlier in configuration order
// on a tie. Source: Mitzenmacher, "The Power of Two Choices in Randomized Load Balancing", IEEE TPDS 12(10),
// 2001, d = 2 without
//         replacement. Draws two numbers per decision, none where there is but one candidate.
class RandomTwoChoices final : public AssignmentPolicy {
 public:
  PolicyKind kind() const noexcept override { return PolicyKind::RandomTwoChoices; }
  Choice choose(const Arrival&, Pools&, Rng&) override;
};

}  // namespace sluice::policy
