#include "sim/tuning.h"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "sluice/stats/comparison.h"

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

RecordedTrace busy_trace(std::size_t sessions = 800) {
  MadeLoad load;
  load.config = two_classes(policy::PolicyKind::RoundRobin, 3);
  load.cores = 2;
  load.sessions = sessions;
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
  const RecordedTrace trace = busy_trace(2'400);
  const auto tuned = tune(trace, demands(trace, 2), cheap(8), in_order);
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

TEST(Tune, ItsIntervalsHoldForAllThatWereTriedTogether) {
  const RecordedTrace trace = busy_trace();
  const auto tuned = tune(trace, demands(trace, 2), cheap(4), in_order);
  const double level = 1 - 0.05 / static_cast<double>(tuned.size() - 1);
  ASSERT_EQ(tuned[1].by_part.size(), kReplaySlices);
  EXPECT_EQ(*tuned[1].interval, stats::mean_interval(tuned[1].by_part, level));
  EXPECT_GT(tuned[1].interval->high, stats::mean_interval(tuned[1].by_part).high);
}

TEST(Tune, SpreadsSplitsEvenlyWhereThereAreMany) {
  policy::PoolConfig config = two_classes(policy::PolicyKind::Plb, 5);
  EXPECT_EQ(tuning_splits(config).tried,
            (std::vector<std::vector<std::int64_t>>{{1, 4}, {2, 3}, {3, 2}, {4, 1}, {1, 3}, {2, 2}, {3, 1}}));
  config = two_classes(policy::PolicyKind::Plb, 20);
  for (const char* name : {"third", "fourth"})
    config.classes.push_back({name, 10, *Ratio::parse("0.60"), 1, 1});
  const TuningSplits splits = tuning_splits(config);
  EXPECT_EQ(splits.all, 969 + 816);
  EXPECT_EQ(splits.tried.size(), 40U);
  std::int64_t most = 0;
  for (const auto& split : splits.tried) {
    ASSERT_EQ(split.size(), 4U);
    std::int64_t sum = 0;
    for (const std::int64_t count : split) {
      EXPECT_GE(count, 1);
      sum += count;
    }
    EXPECT_TRUE(sum == 20 || sum == 19);
    most = std::max(most, split[0]);
  }
  EXPECT_GE(most, 9) << "not only those with one replica for the first class";
  EXPECT_EQ(std::set(splits.tried.begin(), splits.tried.end()).size(), 40U);
  config = two_classes(policy::PolicyKind::Plb, 1);
  EXPECT_TRUE(tuning_splits(config).tried.empty());
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
