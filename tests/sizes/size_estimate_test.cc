#include "sizes/size_estimate.h"

#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

namespace sluice::sizes {
namespace {

TEST(SizeEstimate, SaysNothingOfTooFewValues) {
  SizeEstimate estimate;
  EXPECT_EQ(estimate.quantile(0.5), 0);
  EXPECT_EQ(estimate.mean(), 0);
  for (std::uint64_t i = 0; i + 1 < SizeEstimate::kKnownFrom; ++i)
    estimate.add(1);
  EXPECT_FALSE(estimate.expected());
  estimate.add(1);
  ASSERT_TRUE(estimate.expected());
  EXPECT_DOUBLE_EQ(*estimate.expected(), 1);
}

TEST(SizeEstimate, HasQuantilesToAnEighth) {
  SizeEstimate estimate;
  for (int i = 1; i <= 200; ++i)
    estimate.add(0.001 * i);
  EXPECT_NEAR(estimate.quantile(0), 0.001, 0.001 / 8);
  EXPECT_NEAR(estimate.quantile(1), 0.2, 0.2 / 8);
  EXPECT_GT(estimate.quantile(0.5), 0.1) << "the later, larger ones count more";
  EXPECT_LT(estimate.quantile(0.5), 0.16);
}

TEST(SizeEstimate, ForgetsByHalvesInItsHalfLife) {
  SizeEstimate estimate;
  for (int i = 0; i < 10'000; ++i)
    estimate.add(1);
  for (int i = 0; i < static_cast<int>(SizeEstimate::kHalfLife); ++i)
    estimate.add(3);
  EXPECT_NEAR(estimate.mean(), 2, 0.001);
  EXPECT_EQ(estimate.count(), 10'256U);
}

TEST(SizeEstimate, StaysRightHoweverLongItIsFed) {
  SizeEstimate estimate;
  std::mt19937_64 random(3);
  for (int i = 0; i < 200'000; ++i)
    estimate.add(random() % 2 == 0 ? 0.25 : 0.75);
  // Of about 370 values' weight: a standard error of 0.013, so five of them.
  EXPECT_NEAR(estimate.mean(), 0.5, 0.065);
  EXPECT_NEAR(estimate.quantile(0.1), 0.25, 0.25 / 8);
  EXPECT_NEAR(estimate.quantile(0.9), 0.75, 0.75 / 8);
}

TEST(SizeEstimate, CountsWhatIsBeyondItsBucketsAsTheLastAndNoNonsense) {
  SizeEstimate estimate;
  estimate.add(-1);
  estimate.add(std::nan(""));
  estimate.add(std::numeric_limits<double>::infinity());
  EXPECT_EQ(estimate.count(), 0U);
  estimate.add(0);
  EXPECT_NEAR(estimate.quantile(1), SizeEstimate::kLeast, SizeEstimate::kLeast / 4);
  estimate.add(1e9);
  EXPECT_NEAR(estimate.quantile(1), SizeEstimate::kMost, SizeEstimate::kMost / 4);
}

}  // namespace
}  // namespace sluice::sizes
