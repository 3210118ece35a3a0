#include <gtest/gtest.h>

#include "sluice/policy/assignment.h"

#include "tests/policy/golden_plb.h"

namespace sluice::policy {
namespace {

PoolId pool_named(const Assignment& assignment, const std::string& name) {
  const auto c = assignment.find_class(name);
  return c ? PoolId(*c) : PoolId::mixed();
}

Assignment in_state(const GoldenCase& c) {
  Assignment assignment(c.config());
  for (std::size_t i = 0; i < c.state.size(); ++i) {
    const GoldenReplica& r = c.state[i];
    const ReplicaId id(static_cast<std::uint32_t>(i));
    assignment.preset(id, pool_named(assignment, r.pool), r.borrowed, std::array{r.premium, r.freemium});
    assignment.set_up(id, r.up);
  }
  return assignment;
}

std::vector<GoldenReplica> state_of(const Assignment& assignment) {
  std::vector<GoldenReplica> state;
  for (const ReplicaSnapshot& r : assignment.snapshot().replicas)
    state.push_back({r.pool_name, r.borrowed, r.up, r.loads[0], r.loads[1]});
  return state;
}

std::vector<GoldenChange> changes_of(const Assignment& assignment, const Decision& decision) {
  std::vector<GoldenChange> changes;
  for (const RoleChange& x : decision.changes)
    changes.push_back({assignment.pools().name(x.replica), std::string(assignment.pools().pool_name(x.from)),
                       std::string(assignment.pools().pool_name(x.to)),
                       std::string(change_kind_name(x.kind))});
  return changes;
}

void play(const GoldenCase& c) {
  Assignment assignment = in_state(c);
  for (std::size_t i = 0; i < c.watermarks.size(); ++i)
    EXPECT_EQ(c.classes[i].watermark(), c.watermarks[i]);
  for (std::size_t i = 0; i < c.steps.size(); ++i) {
    SCOPED_TRACE(c.id + " step " + std::to_string(i));
    const GoldenStep& step = c.steps[i];
    const ClassId of = assignment.find_class(step.of).value();
    if (step.close) {
      assignment.close(assignment.find_replica(step.replica).value(), of);
      continue;
    }
    const Decision decision = assignment.admit({of, "", std::nullopt});
    EXPECT_EQ(assignment.pools().name(decision.replica), step.replica);
    EXPECT_EQ(outcome_name(decision.outcome), step.outcome);
    EXPECT_TRUE(changes_of(assignment, decision) == step.changes);
  }
  if (!c.final.empty()) {
    EXPECT_TRUE(state_of(assignment) == c.final) << c.id;
  }
}

TEST(Plb, AnswersTheGoldenCases) {
  const auto cases = golden_cases();
  EXPECT_EQ(cases.size(), 46u);
  for (const GoldenCase& c : cases)
    play(c);
}

}  // namespace
}  // namespace sluice::policy
