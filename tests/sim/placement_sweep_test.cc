#include "sim/placement_sweep.h"

#include <gtest/gtest.h>

namespace sluice::sim {
namespace {

// As published: network_only stays with A up to 3 calls, profiled changes to B between 1 and 3.
TEST(PlacementSweep, HasThePublishedChoicesAndCrossovers) {
  const PlacementPlan plan = published_sweep();
  const auto rows = sweep(plan);
  ASSERT_EQ(rows.size(), 7U);
  const std::size_t network_only[] = {0, 0, 0, 1, 1, 1, 1}, profiled[] = {0, 0, 1, 1, 1, 1, 1};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i].user_first, 0U) << i;
    EXPECT_EQ(rows[i].network_only, network_only[i]) << i;
    EXPECT_EQ(rows[i].profiled, profiled[i]) << i;
    EXPECT_GE(rows[i].lost.count(), 0) << i;
  }
  EXPECT_NEAR(rows[2].lost.count(), 0.276, 1e-9);  // 3 calls: 2.244 on A, 1.968 on B
  const auto found = crossovers(plan);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NEAR(*found[0].network_only, 3.55, 1e-9);
  EXPECT_NEAR(*found[0].profiled, 1.62, 1e-9);
}

TEST(PlacementSweep, AFarHostWithDearCallsNeverWins) {
  PlacementPlan plan = published_sweep();
  plan.hosts[1].inputs.sql = placement::Millis(0.5);
  const auto found = crossovers(plan);
  EXPECT_FALSE(found[0].network_only);
  EXPECT_FALSE(found[0].profiled);
  EXPECT_NE(crossover_table(plan, found).text().find("never"), std::string::npos);
  for (const SweepRow& row : sweep(plan))
    EXPECT_EQ(row.profiled, 0U);
}

TEST(PlacementSweep, ConnectingAnewMovesTheCrossover) {
  PlacementPlan plan = published_sweep();
  plan.upstream = placement::UpstreamConnection::PerRequest;
  plan.hosts[0].inputs.connect = placement::Millis(0.1);
  plan.hosts[1].inputs.connect = placement::Millis(0.6);
  const auto found = crossovers(plan);
  EXPECT_NEAR(*found[0].network_only, 3.55 + 2.5, 1e-9);
  EXPECT_NEAR(*found[0].profiled, 1.62 + 2.5, 1e-9);
}

}  // namespace
}  // namespace sluice::sim
