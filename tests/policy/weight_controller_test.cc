#include "sluice/policy/weight_controller.h"

#include <cmath>
#include <deque>
#include <limits>

#include <gtest/gtest.h>

namespace sluice::policy {
namespace {

WeightController::Settings hold(const char* target) {
  WeightController::Settings settings;
  settings.target = *WeightTarget::parse(target);
  return settings;
}

WeightEvidence evidence(double highest, double lowest, double turnover = 0.25) {
  return {highest, lowest, 1000, 1000, turnover};
}

TEST(WeightTarget, IsReadAndPrinted) {
  for (const char* text : {"median:0.8", "p95:0.5", "median:4s", "p95:0.25s"})
    EXPECT_EQ(WeightTarget::parse(text)->to_string(), text);
  EXPECT_EQ(WeightTarget::parse("p95:250ms")->to_string(), "p95:0.25s");
  for (const char* text :
       {"", "median", "median:", "mean:1", "median:0", "median:-1", "median:nan", "median:inf", "median:1e7",
        "median:1x", "median:s", "p95:ms", "median: 1", "p95:0ms"})
    EXPECT_FALSE(WeightTarget::parse(text)) << text;
}

TEST(WeightController, RaisesTheWeightOfAClassThatIsTooSlow) {
  WeightController c(hold("median:0.5"), 2);
  EXPECT_GT(*c.update(evidence(0.8, 1)), 2);
  EXPECT_NEAR(c.last_ratio(), 1.6, 1e-12);
  WeightController d(hold("median:0.5"), 2);
  EXPECT_LT(*d.update(evidence(0.3, 1)), 2);
  WeightController absolute(hold("p95:4s"), 2);
  EXPECT_GT(*absolute.update(evidence(5, 0)), 2);
}

TEST(WeightController, LeavesTheWeightWithinTheDeadBand) {
  WeightController c(hold("median:0.5"), 2);
  EXPECT_NEAR(*c.update(evidence(0.505, 1)), 2, 1e-12);
  EXPECT_NEAR(*c.update(evidence(0.495, 1)), 2, 1e-12);
}

TEST(WeightController, WaitsForEvidence) {
  WeightController c(hold("median:0.5"), 2);
  EXPECT_FALSE(c.update({0.8, 1, 49, 1000, 0.25}));
  EXPECT_FALSE(c.update({0.8, 1, 1000, 49, 0.25}));
  EXPECT_FALSE(c.update({0.8, 1, 1000, 1000, 0.09}));
  EXPECT_FALSE(c.update({0.8, 1, 1000, 1000, std::numeric_limits<double>::quiet_NaN()}));
  EXPECT_FALSE(c.update(evidence(0, 1)));
  EXPECT_FALSE(c.update(evidence(1, 0)));
  EXPECT_NEAR(c.weight(), 2, 1e-12);
  WeightController absolute(hold("median:0.5s"), 2);
  EXPECT_TRUE(absolute.update({0.8, 0, 1000, 0, 0.25})) << "the lowest class does not matter";
}

TEST(WeightController, StaysWithinItsBoundsAndLeavesThemAtOnce) {
  WeightController c(hold("median:0.01"), 2);
  for (int i = 0; i < 10'000; ++i)
    EXPECT_LE(*c.update(evidence(1, 1, 1e9)), 16);
  EXPECT_NEAR(c.weight(), 16, 1e-9);
  EXPECT_LT(*c.update(evidence(0.001, 1)), 15.5) << "nothing has wound up";
  WeightController low(hold("median:10"), 2);
  for (int i = 0; i < 10'000; ++i)
    EXPECT_GE(*low.update(evidence(1, 1, 1)), 1);
  EXPECT_NEAR(low.weight(), 1, 1e-9);
}

// The plant of the header: ln ratio goes to -steepness * ln w with a lag of one turnover, and is seen with a
// delay of half the window.
struct Plant {
  double steepness = 1, log_ratio = 0;
  std::deque<double> seen;
  double step(double weight, double turnover) {
    log_ratio += (-steepness * std::log(weight) - log_ratio) * (1 - std::exp(-turnover));
    seen.push_back(log_ratio);
    if (seen.size() > 2) seen.pop_front();
    return std::exp((seen.front() + seen.back()) / 2);
  }
};

// After a step of the goal the ratio arrives without passing it by more than `overshoot`, and stays.
void expect_settles(double steepness, double turnover, double overshoot) {
  SCOPED_TRACE("steepness " + std::to_string(steepness) + ", turnover " + std::to_string(turnover));
  WeightController c(hold("median:0.5"), 1);
  Plant plant{steepness, 0, {}};
  double lowest = 1, at_end = 1;
  int crossings = 0;
  double before = 1;
  for (double t = 0; t < 40; t += turnover) {
    at_end = plant.step(c.weight(), turnover);
    if (!c.update(evidence(at_end, 1, turnover))) continue;
    lowest = std::min(lowest, at_end);
    if (before > 0 && (before - 0.5 * 0.97) * (at_end - 0.5 * 0.97) < 0) ++crossings;
    before = at_end;
  }
  EXPECT_NEAR(at_end, 0.5, 0.5 * 0.025);
  EXPECT_GT(lowest, 0.5 * (1 - overshoot));
  EXPECT_LE(crossings, 2) << "it oscillates";
}

TEST(WeightController, ArrivesAfterAStepWithoutOscillating) {
  for (const double turnover : {0.1, 0.25, 0.5, 1.0})
    for (const double steepness : {0.5, 1.0})
      expect_settles(steepness, turnover, 0.04);
  for (const double turnover : {0.1, 0.5})
    expect_settles(2, turnover, 0.13);
}

// Twice the steps in half the turnover each come to the same.
TEST(WeightController, ActsByTurnoverAndNotByTheClock) {
  WeightController coarse(hold("median:0.5"), 2), fine(hold("median:0.5"), 2);
  for (int i = 0; i < 8; ++i) {
    coarse.update(evidence(0.6, 1, 0.4));
    fine.update(evidence(0.6, 1, 0.2));
    fine.update(evidence(0.6, 1, 0.2));
  }
  EXPECT_NEAR(coarse.weight(), fine.weight(), 1e-9);
}

}  // namespace
}  // namespace sluice::policy
