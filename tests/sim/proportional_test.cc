#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sim/plb_trade.h"

namespace sluice::sim {
namespace {

// Replicas without an idle core, where response times go with company.
PlbWorkload busy(double premium_share) {
  PlbWorkload load;
  load.sessions = 1'000;
  load.premium_share = premium_share;
  load.think_mean = 0.5;
  load.demand_mean = 8;
  load.cores_per_query = 3;
  return load;
}

// In a saturated cluster of processor sharing a Premium session has 1 / w of a Freemium one's company, and a
// little more where a boundary replica has both.
TEST(ProportionalModel, PremiumIsAsMuchQuickerAsItWeighs) {
  for (const char* weight : {"1", "1.5", "2", "3"}) {
    const Weight w = *Weight::parse(weight);
    double ratio = 0;
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      PlbWorkload load = busy(0.5);
      load.seed = seed;
      const PlbOutcome out = run(load, proportional_strategy(w));
      ratio += out.classes[0].mean / out.classes[1].mean / 3;
      EXPECT_EQ(out.borrowings, 0U);
      EXPECT_LT(out.utilization_cv, 0.15) << "no replica idles";
    }
    EXPECT_GT(ratio * w.value(), 0.95) << weight;
    EXPECT_LT(ratio * w.value(), 1.3) << weight;
  }
}

struct Settled {
  double log_ratio = 0;  // mean of ln(measured / goal)
  double weight_min = 1e9, weight_max = 0;
};

Settled settled(const PlbOutcome& out, double from, double to) {
  Settled s;
  std::size_t count = 0;
  for (const HeldWeight::Step& step : out.weights) {
    if (step.time < from || step.time >= to) continue;
    s.log_ratio += std::log(step.ratio);
    s.weight_min = std::min(s.weight_min, step.weight);
    s.weight_max = std::max(s.weight_max, step.weight);
    ++count;
  }
  EXPECT_GT(count, 10U);
  s.log_ratio /= static_cast<double>(std::max<std::size_t>(count, 1));
  return s;
}

// The mix turns from 30% Premium to 70% and back, then a third more sessions come: after each step the target
// is met again, without an oscillation, and the weight stays within a band.
TEST(HeldWeightModel, HoldsARelativeTargetThroughSteps) {
  for (const char* target : {"median:0.6", "p95:0.6"}) {
    SCOPED_TRACE(target);
    PlbWorkload load = busy(0.3);
    load.duration = 2'400;
    load.sessions = 1'000.0 * 2'400 / 180;
    load.phases = {
        {600, load.sessions, 0.7}, {1'200, load.sessions, 0.3}, {1'800, load.sessions * 1.33, 0.3}};
    const PlbOutcome out = run(load, held_strategy(*policy::WeightTarget::parse(target)));
    for (double begins = 0; begins < 2'400; begins += 600) {
      SCOPED_TRACE(begins);
      const Settled s = settled(out, begins + 250, begins + 600);
      EXPECT_NEAR(s.log_ratio, 0, 0.06);
      EXPECT_LT(s.weight_max / s.weight_min, 1.6);
      EXPECT_GT(s.weight_min, 1.1);
      EXPECT_LT(s.weight_max, 4);
    }
  }
}

// Under a time as target the weight rises with the load and falls back with it.
TEST(HeldWeightModel, HoldsATimeWhileTheLoadRisesAndFalls) {
  PlbWorkload load = busy(0.3);
  load.duration = 4'500;
  load.sessions = 800.0 * 4'500 / 180;
  const PlbOutcome even = run(load, proportional_strategy(Weight()));
  load.phases = {{1'500, load.sessions * 1.3, 0.3}, {3'000, load.sessions, 0.3}};
  policy::WeightTarget target;
  target.of = policy::WeightTarget::Of::Seconds;
  target.goal = 0.8 * even.classes[0].median;
  const PlbOutcome out = run(load, held_strategy(target));
  const Settled before = settled(out, 800, 1'500), during = settled(out, 2'300, 3'000),
                after = settled(out, 3'800, 4'500);
  EXPECT_NEAR(before.log_ratio, 0, 0.08);
  EXPECT_NEAR(during.log_ratio, 0, 0.08);
  EXPECT_NEAR(after.log_ratio, 0, 0.08);
  EXPECT_GT(during.weight_min, before.weight_min);
  EXPECT_LT(after.weight_min, during.weight_min);
}

TEST(HeldWeightModel, IsTheSameForTheSameSeed) {
  PlbWorkload load = busy(0.4);
  const Strategy strategy = held_strategy(*policy::WeightTarget::parse("median:0.7"));
  const PlbOutcome one = run(load, strategy), two = run(load, strategy);
  ASSERT_EQ(one.weights.size(), two.weights.size());
  ASSERT_GT(one.weights.size(), 10U);
  for (std::size_t i = 0; i < one.weights.size(); ++i)
    EXPECT_EQ(one.weights[i].weight, two.weights[i].weight);
}

PlbRow row(const char* strategy, std::vector<double> premium, std::vector<double> freemium) {
  PlbRow out;
  out.sessions = 1'000;
  out.premium_share = 0.2;
  out.strategy = strategy;
  out.all_mean = freemium;
  out.median[0] = std::move(premium);
  out.median[1] = std::move(freemium);
  return out;
}

TEST(PlbTrade, FindsWhereTheDialGivesPremiumTheSame) {
  const PlbRow rr = row("5RR", {10, 10, 10}, {10, 10, 10}), plb = row("5PLB", {7, 7, 7}, {14, 14.1, 13.9});
  const PlbRow one = row("proportional/1", {10, 10, 10}, {10, 10, 10}),
               two = row("proportional/2", {8, 8, 8}, {11, 11, 11});
  const PlbRow four = row("proportional/4", {4, 4, 4}, {13, 13, 13});
  const auto found = trades({rr, plb, four, one, two});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NEAR(found[0].premium, -0.3, 1e-12);
  EXPECT_NEAR(found[0].weight, 2 + 2 * (8 - 7.21) / 4, 1e-12);
  EXPECT_NEAR(found[0].freemium_gap->estimate, (11 + 2 * (8 - 7.21) / 4) / 14 - 1, 1e-3);
  EXPECT_EQ(found[0].verdict, Verdict::Better);
  EXPECT_EQ(trades({rr, plb, one, two})[0].verdict, Verdict::OutOfReach);
  EXPECT_EQ(trades({rr, row("5PLB", {7, 7, 7}, {11, 11, 11.2}), four, one, two})[0].verdict, Verdict::Worse);
  EXPECT_EQ(trades({rr, row("5PLB", {7, 7, 7}, {11, 11.5, 12}), four, one, two})[0].verdict, Verdict::Alike);
  // Premium is as quick with the least weight: PLB only costs Freemium something, or serves it in Premium's
  // place.
  EXPECT_EQ(trades({rr, row("5PLB", {10, 10, 10}, {11, 11, 11.2}), one, two})[0].verdict, Verdict::Better);
  EXPECT_EQ(trades({rr, row("5PLB", {12, 12, 12}, {9, 9.1, 9}), one, two})[0].verdict, Verdict::Reversed);
  EXPECT_TRUE(trades({plb, one, two}).empty());
}

}  // namespace
}  // namespace sluice::sim
