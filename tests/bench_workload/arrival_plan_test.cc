#include "bench/arrival_plan.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

namespace sluice::bench {
namespace {

Arrivals of(std::size_t terminals, double share, std::uint64_t seed) {
  Arrivals arrivals;
  arrivals.terminals = terminals;
  arrivals.premium_share = share;
  arrivals.seed = seed;
  return arrivals;
}

std::size_t premium(const std::vector<TerminalPlan>& plan) {
  return static_cast<std::size_t>(
      std::count_if(plan.begin(), plan.end(), [](const TerminalPlan& t) { return t.class_index == 0; }));
}

TEST(ArrivalPlan, HasEverySessionInOrderWithinTheDuration) {
  const auto plan = plan_arrivals(of(2500, 0.3, 7));
  ASSERT_EQ(plan.size(), 2500U);
  double before = 0;
  for (const TerminalPlan& t : plan) {
    EXPECT_GE(t.arrives, before);
    EXPECT_LT(t.arrives, 60);
    EXPECT_GE(t.lifetime, 10);
    EXPECT_LE(t.lifetime, 30);
    before = t.arrives;
  }
}

TEST(ArrivalPlan, DealsTheClassesByTheShareExactly) {
  EXPECT_EQ(premium(plan_arrivals(of(100, 0.3, 1))), 30U);
  EXPECT_EQ(premium(plan_arrivals(of(100, 0, 1))), 0U);
  EXPECT_EQ(premium(plan_arrivals(of(100, 1, 1))), 100U);
  EXPECT_EQ(premium(plan_arrivals(of(1, 0.4, 1))), 0U);
}

TEST(ArrivalPlan, KeepsArrivalsWhenTheShareChanges) {
  const auto a = plan_arrivals(of(50, 0.2, 3)), b = plan_arrivals(of(50, 0.8, 3));
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].arrives, b[i].arrives);
    EXPECT_EQ(a[i].lifetime, b[i].lifetime);
    EXPECT_EQ(a[i].seed, b[i].seed);
  }
  EXPECT_NE(a[0].arrives, plan_arrivals(of(50, 0.2, 4))[0].arrives);
}

// Gaps of a Poisson process are exponential: as many above the mean as exp(-1) says. False alarm: 4 standard
// deviations of a binomial count, below 1 in 10,000; the seed is fixed.
TEST(ArrivalPlan, LeavesExponentialGaps) {
  constexpr double kAlarm = 4;
  const std::size_t count = 20'000;
  const auto plan = plan_arrivals(of(count, 0.5, 11));
  const double mean = 60.0 / static_cast<double>(count);
  std::size_t above = 0;
  for (std::size_t i = 1; i < plan.size(); ++i)
    above += plan[i].arrives - plan[i - 1].arrives > mean ? 1 : 0;
  const double expected = std::exp(-1.0), n = static_cast<double>(count - 1);
  EXPECT_NEAR(static_cast<double>(above) / n, expected, kAlarm * std::sqrt(expected * (1 - expected) / n));
}

TEST(ArrivalPlan, SpreadsSessionsOverTheHosts) {
  Arrivals arrivals = of(300, 0.5, 2);
  arrivals.hosts = 3;
  std::vector<std::size_t> counts(3, 0);
  for (const TerminalPlan& t : plan_arrivals(arrivals))
    ++counts.at(t.host);
  for (const std::size_t count : counts)
    EXPECT_GT(count, 60U);
}

}  // namespace
}  // namespace sluice::bench
