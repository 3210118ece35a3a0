#include <array>

#include <gtest/gtest.h>

#include "sluice/policy/assignment.h"

namespace sluice::policy {
namespace {

PoolConfig weighted(PolicyKind policy, ReplicaOrder order = ReplicaOrder::LeastLoaded) {
  PoolConfig config;
  config.policy = policy;
  config.order = order;
  config.classes.push_back({"only", 1000, *Ratio::parse("0.5"), 0, 3});
  config.replicas = {{"a", std::nullopt, 1}, {"b", std::nullopt, 2}, {"c", std::nullopt, 5}};
  return config;
}

std::array<std::int64_t, 3> after(Assignment& assignment, int sessions) {
  std::array<std::int64_t, 3> counts{};
  for (int i = 0; i < sessions; ++i)
    ++counts[assignment.admit({ClassId(0), "", {}}, {}).replica.value()];
  return counts;
}

TEST(Weight, SharesSessionsInItsProportion) {
  for (const PolicyKind policy : {PolicyKind::Plb, PolicyKind::LeastLoaded}) {
    Assignment assignment(weighted(policy));
    EXPECT_EQ(after(assignment, 80), (std::array<std::int64_t, 3>{10, 20, 50})) << policy_name(policy);
  }
}

TEST(Weight, GivesTheFirstSessionToTheHeaviest) {
  Assignment assignment(weighted(PolicyKind::LeastLoaded));
  EXPECT_EQ(after(assignment, 1), (std::array<std::int64_t, 3>{0, 0, 1}));
}

TEST(Weight, ChangesWithAReload) {
  Assignment assignment(weighted(PolicyKind::LeastLoaded));
  PoolConfig even = weighted(PolicyKind::LeastLoaded);
  for (ReplicaConfig& r : even.replicas)
    r.weight = 1;
  assignment.reconfigure(even);
  EXPECT_EQ(after(assignment, 9), (std::array<std::int64_t, 3>{3, 3, 3}));
}

// The slack is counted from what the least loaded one has for its weight.
TEST(Weight, LeavesNearOnesTheirShare) {
  PoolConfig config = weighted(PolicyKind::LeastLoaded, ReplicaOrder::Nearest);
  config.nearest_slack = 0;
  Assignment assignment(config);
  const std::array<std::chrono::nanoseconds, 3> round_trips = {
      std::chrono::milliseconds(1), std::chrono::milliseconds(2), std::chrono::milliseconds(3)};
  std::array<std::int64_t, 3> counts{};
  for (int i = 0; i < 80; ++i) {
    Arrival arrival{ClassId(0), "h", {}};
    arrival.round_trips = round_trips;
    ++counts[assignment.admit(arrival, {}).replica.value()];
  }
  EXPECT_NEAR(static_cast<double>(counts[0]), 10, 1);
  EXPECT_NEAR(static_cast<double>(counts[1]), 20, 2);
}

TEST(Weight, IsBounded) {
  PoolConfig config = weighted(PolicyKind::Plb);
  config.replicas[1].weight = 0;
  EXPECT_EQ(problem_of(config), "replica 'b': weight 0 is not in 1..1000");
  config.replicas[1].weight = 1001;
  EXPECT_TRUE(problem_of(config));
}

}  // namespace
}  // namespace sluice::policy
