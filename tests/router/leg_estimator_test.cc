#include "router/leg_estimator.h"

#include <gtest/gtest.h>

namespace sluice::router {
namespace {

using namespace std::chrono_literals;
using Moment = std::chrono::steady_clock::time_point;

LegReading reading(std::chrono::nanoseconds minimum, std::chrono::seconds at, bool young = false) {
  return {minimum, minimum + 20ms, 3 * minimum, Moment(1h) + at, young};
}

TEST(LegEstimator, KnowsNothingBeforeTheFirstReading) {
  const LegEstimator::Leg leg = LegEstimator().leg();
  EXPECT_EQ(leg.samples, 0u);
  EXPECT_EQ(leg.measured_at, Moment{});
}

TEST(LegEstimator, TakesTheMedianOfTheLeastRoundTripsAndNotTheSmoothedOnes) {
  LegEstimator estimator;
  for (const auto minimum : {200us, 210us, 9000us, 190us, 205us})
    estimator.add(reading(minimum, 0s));
  const LegEstimator::Leg leg = estimator.leg();
  EXPECT_EQ(leg.estimate, 205us);
  EXPECT_EQ(leg.minimum, 190us);
  EXPECT_EQ(leg.smoothed, 20'205us) << "delayed acknowledgements";
  EXPECT_EQ(leg.deviation, 615us);
  EXPECT_EQ(leg.samples, 5u);
}

TEST(LegEstimator, ForgetsWhatIsHalfAMinuteOlderThanTheNewest) {
  LegEstimator estimator;
  for (int i = 0; i < 10; ++i)
    estimator.add(reading(100us, 0s));
  estimator.add(reading(900us, 30s));
  EXPECT_EQ(estimator.leg().estimate, 100us);
  estimator.add(reading(900us, 31s));
  EXPECT_EQ(estimator.leg().estimate, 900us);
  EXPECT_EQ(estimator.leg().measured_at, Moment(1h) + 31s);
}

// An old socket's least round trip is that of the path as it was: the kernel keeps it for five minutes.
TEST(LegEstimator, BelievesYoungConnectionsWhereThereAreEnough) {
  LegEstimator estimator;
  for (int i = 0; i < 20; ++i)
    estimator.add(reading(100us, 0s));
  estimator.add(reading(600us, 1s, true));
  estimator.add(reading(600us, 1s, true));
  EXPECT_EQ(estimator.leg().estimate, 100us);
  estimator.add(reading(610us, 1s, true));
  EXPECT_EQ(estimator.leg().estimate, 600us);
  EXPECT_EQ(estimator.leg().minimum, 600us);
}

TEST(LegEstimator, KeepsABoundedNumber) {
  LegEstimator estimator;
  for (int i = 0; i < 100; ++i)
    estimator.add(reading(100us, 0s));
  for (std::size_t i = 0; i < LegEstimator::kKept; ++i)
    estimator.add(reading(500us, 0s));
  EXPECT_EQ(estimator.leg().minimum, 500us);
  EXPECT_EQ(estimator.leg().samples, 100 + LegEstimator::kKept);
}

}  // namespace
}  // namespace sluice::router
