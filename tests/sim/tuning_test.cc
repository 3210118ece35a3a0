#include "sim/tuning.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "tests/sim/traces.h"

namespace sluice::sim {
namespace {

void in_order(std::size_t count, const std::function<void(std::size_t)>& run) {
  for (std::size_t i = 0; i < count; ++i)
    run(i);
}
void backwards(std::size_t count, const std::function<void(std::size_t)>& run) {
  for (std::size_t i = count; i-- > 0;)
    run(i);
}

RecordedTrace busy_trace() {
  MadeLoad load;
  load.config = two_classes(policy::PolicyKind::RoundRobin, 3);
  load.cores = 2;
  load.sessions = 800;
  load.gap_mean = 0.85;
  return made_trace(load);
}

TunePlan cheap(double prefer) {
  TunePlan plan;
  plan.cores = 2;
  plan.prefer = prefer;
  plan.rounds = 1;
  return plan;
}

TEST(Tune, RanksWhatItTriedWithTheRecordedFirst) {
  const RecordedTrace trace = busy_trace();
  const auto tuned = tune(trace, demands(trace, 2), cheap(4), in_order);
  ASSERT_GT(tuned.size(), 30U);
  EXPECT_NEAR(tuned[0].score, 1, 1e-12);
  EXPECT_EQ(tuned[0].plan.name, "as recorded: round_robin");
  for (std::size_t i = 2; i < tuned.size(); ++i)
    EXPECT_LE(tuned[i - 1].score, tuned[i].score);
  // Where Premium is dear, what prefers it is better than round robin beyond chance.
  EXPECT_LT(tuned[1].score, 0.95);
  ASSERT_TRUE(tuned[1].interval);
  EXPECT_LT(tuned[1].interval->high, 1);
  EXPECT_LT(tuned[1].outcome.classes[0].mean, tuned[0].outcome.classes[0].mean);
  for (const Tuned& each : tuned)
    EXPECT_FALSE(policy::problem_of(each.plan.config)) << each.plan.name;
}

TEST(Tune, TriesEveryPolicyThatItKnows) {
  const RecordedTrace trace = busy_trace();
  std::vector<policy::PolicyKind> seen;
  for (const ReplayPlan& plan : tuning_grid(trace, cheap(2)))
    seen.push_back(plan.config.policy);
  for (const auto kind :
       {policy::PolicyKind::Plb, policy::PolicyKind::Proportional, policy::PolicyKind::Dedicated,
        policy::PolicyKind::LeastLoaded, policy::PolicyKind::RoundRobin})
    EXPECT_TRUE(std::find(seen.begin(), seen.end(), kind) != seen.end()) << policy::policy_name(kind);
}

TEST(Tune, DoesNotDependOnTheOrderOfRuns) {
  const RecordedTrace trace = busy_trace();
  const Demands asked = demands(trace, 2);
  EXPECT_EQ(tuning_table(tune(trace, asked, cheap(2), in_order), 1'000).csv(),
            tuning_table(tune(trace, asked, cheap(2), backwards), 1'000).csv());
}

TEST(Tune, WithOneClassThereIsNothingToPrefer) {
  RecordedTrace trace = busy_trace();
  trace.config.classes.pop_back();
  for (RecordedGuest& guest : trace.guests)
    guest.session_class = 0;
  const auto tuned = tune(trace, demands(trace, 2), cheap(2), in_order);
  EXPECT_NEAR(tuned[0].score, 1, 1e-12);
  for (const Tuned& each : tuned)
    EXPECT_NE(each.plan.config.policy, policy::PolicyKind::Proportional);
}

}  // namespace
}  // namespace sluice::sim
