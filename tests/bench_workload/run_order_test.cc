#include "bench/run_order.h"

#include <algorithm>
#include <set>
#include <tuple>

#include <gtest/gtest.h>

namespace sluice::bench {
namespace {

Grid grid(std::uint64_t seed) {
  return {{"plb", "round_robin", "least_loaded"}, {100, 200}, {0.2, 0.5}, 4, seed};
}

TEST(RunOrder, HasEveryRunOnce) {
  std::set<std::tuple<std::string, std::size_t, double, std::size_t>> seen;
  const auto runs = run_order(grid(1));
  for (const PlannedRun& r : runs)
    seen.emplace(r.strategy, r.terminals, r.premium_share, r.repetition);
  EXPECT_EQ(runs.size(), 3U * 2 * 2 * 4);
  EXPECT_EQ(seen.size(), runs.size());
}

TEST(RunOrder, KeepsTheStrategiesOfAConfigurationTogether) {
  const auto runs = run_order(grid(1));
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const PlannedRun& first = runs[i - i % 3];
    EXPECT_EQ(runs[i].terminals, first.terminals);
    EXPECT_EQ(runs[i].premium_share, first.premium_share);
    EXPECT_EQ(runs[i].repetition, first.repetition);
    EXPECT_EQ(runs[i].repetition, 1 + i / 12) << "a repetition is whole before the next one begins";
  }
}

TEST(RunOrder, PutsEachStrategyFirstSometimes) {
  std::set<std::string> first;
  const auto runs = run_order(grid(1));
  for (std::size_t i = 0; i < runs.size(); i += 3)
    first.insert(runs[i].strategy);
  EXPECT_EQ(first.size(), 3U);
  EXPECT_EQ(run_order(grid(1)), runs);
  EXPECT_NE(run_order(grid(2)), runs);
}

}  // namespace
}  // namespace sluice::bench
