#include "sluice/stats/size_sketch.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "sluice/stats/quantile.h"

namespace sluice::stats {
namespace {

TEST(SizeSketch, IsEmptyAtFirst) {
  const SizeSketch sketch;
  EXPECT_EQ(sketch.quantile(0.5), std::nullopt);
  EXPECT_FALSE(sketch.law());
  EXPECT_EQ(sketch.weight(), 0);
  EXPECT_EQ(sketch.mean(), 0);
}

TEST(SizeSketch, QuantilesAreWithinTheirError) {
  const LogNormal law(-5, 2);
  SizeSketch sketch;
  Rng rng(1);
  std::vector<double> values;
  for (int i = 0; i < 50'000; ++i)
    sketch.add(values.emplace_back(law.draw(rng)));
  std::sort(values.begin(), values.end());
  for (const double q : {0.0, 0.01, 0.25, 0.5, 0.75, 0.99, 0.999, 1.0}) {
    const double want = quantile_sorted(values, q);
    EXPECT_NEAR(*sketch.quantile(q), want, want / 32) << q;
  }
  double sum = 0;
  for (const double value : values)
    sum += value;
  EXPECT_NEAR(sketch.mean(), sum / 50'000, 1e-12);
  EXPECT_EQ(sketch.weight(), 50'000);
}

TEST(SizeSketch, TakesWhatIsNoSizeForNothingAndWhatIsTooLargeForTheLargest) {
  SizeSketch sketch;
  for (const double bad :
       {0.0, -1.0, std::numeric_limits<double>::quiet_NaN(), -std::numeric_limits<double>::infinity()})
    sketch.add(bad);
  EXPECT_EQ(sketch.weight(), 0);
  sketch.add(std::numeric_limits<double>::infinity());
  sketch.add(std::numeric_limits<double>::denorm_min());
  EXPECT_EQ(sketch.weight(), 2);
  EXPECT_EQ(*sketch.quantile(0), SizeSketch::kSmallest);
  EXPECT_EQ(*sketch.quantile(1), SizeSketch::kLargest);
}

TEST(SizeSketch, ForgetsHalfAfterEachHalfLife) {
  SizeSketch sketch(1'000);
  for (int i = 0; i < 100'000; ++i)
    sketch.add(1);
  const double full = sketch.weight();
  EXPECT_NEAR(full, 1'000 / 0.693147, 1);
  for (int i = 0; i < 1'000; ++i)
    sketch.add(8);
  EXPECT_NEAR(sketch.mean(), 4.5, 0.01);
  for (int i = 0; i < 9'000; ++i)
    sketch.add(8);
  EXPECT_NEAR(sketch.law()->partial_moment(0, 0, 2), 1.0 / 1024, 1e-5);
}

// 2^333 overflows 1e100: weights are brought down, and nothing else changes.
TEST(SizeSketch, KeepsCountingBeyondTheRangeOfItsWeights) {
  SizeSketch sketch(10);
  for (int i = 0; i < 20'000; ++i) {
    sketch.add(i % 2 == 0 ? 1 : 3);
    ASSERT_TRUE(std::isfinite(sketch.weight()));
  }
  EXPECT_NEAR(sketch.mean(), 2, 0.05);
  EXPECT_NEAR(sketch.weight(), 10 / 0.693147, 0.6);
  for (int i = 0; i < 4'000; ++i)
    sketch.add(5);
  EXPECT_EQ(sketch.law()->atoms().size(), 1U);
}

}  // namespace
}  // namespace sluice::stats
