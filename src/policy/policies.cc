#include "base/assert.h"
#include "policy/baselines.h"
#include "policy/plb.h"
#include "policy/proportional.h"
#include "policy/random_two_choices.h"

namespace sluice::policy {

std::unique_ptr<AssignmentPolicy> make_policy(PolicyKind kind) {
  switch (kind) {
    case PolicyKind::Plb:
      return std::make_unique<Plb>();
    case PolicyKind::RoundRobin:
      return std::make_unique<RoundRobin>();
    case PolicyKind::LeastLoaded:
      return std::make_unique<LeastLoaded>();
    case PolicyKind::Dedicated:
      return std::make_unique<Dedicated>();
    case PolicyKind::RandomTwoChoices:
      return std::make_unique<RandomTwoChoices>();
    case PolicyKind::Proportional:
      return std::make_unique<Proportional>();
  }
  SLUICE_ASSERT(false);  // every kind returned above
  return nullptr;
}

}  // namespace sluice::policy
