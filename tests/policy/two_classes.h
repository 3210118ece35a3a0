#pragma once

#include "sluice/policy/assignment.h"

// What the tests with the two classes of the paper share: Premium is the first.
namespace sluice::policy {

inline constexpr ClassId kPremium(0);
inline constexpr ClassId kFreemium(1);

inline Decision admit(Assignment& a, ClassId c, ReplicaSet excluded = {}) {
  return a.admit({c, "", std::nullopt}, excluded);
}

}  // namespace sluice::policy
