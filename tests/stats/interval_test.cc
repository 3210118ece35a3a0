#include "sluice/stats/interval.h"

#include <array>
#include <cstdlib>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include "sluice/rng.h"
#include "sluice/stats/quantile.h"

namespace sluice::stats {
namespace {

TEST(MedianDifference, GoldenCases) {
  const char* root = std::getenv("SLUICE_SOURCE_DIR");
  ASSERT_NE(root, nullptr) << "run the test through ctest";
  std::size_t checked = 0;
  for (const YAML::Node& node :
       YAML::LoadFile(std::string(root) + "/tests/golden/placement.yaml")["stats_cases"]) {
    if (node["kind"].as<std::string>() != "boot") continue;
    SCOPED_TRACE(node["id"].as<std::string>());
    const auto expect = node["expect"].as<std::vector<double>>();
    const Interval got =
        median_difference(node["a"].as<std::vector<double>>(), node["b"].as<std::vector<double>>());
    EXPECT_EQ(got, (Interval{expect[0], expect[1], expect[2]}));
    EXPECT_TRUE(got.excludes_zero());
    ++checked;
  }
  EXPECT_EQ(checked, 2U);
}

std::vector<double> uniform(std::size_t count, double low, double high, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<double> sample(count);
  for (double& value : sample)
    value = low + (high - low) * rng.unit();
  return sample;
}

TEST(MedianDifference, TheSameSeedGivesTheSameIntervalAndAnotherOneHardlyAnother) {
  const std::vector<double> a = uniform(500, 0, 1, 1), b = uniform(400, 0.1, 1.1, 2);
  const Interval one = median_difference(a, b, {.seed = 7}), again = median_difference(a, b, {.seed = 7});
  const Interval other = median_difference(a, b, {.seed = 8});
  EXPECT_EQ(one, again);
  EXPECT_NE(one, other);
  EXPECT_NEAR(one.low, other.low, 0.01);
  EXPECT_NEAR(one.high, other.high, 0.01);
}

TEST(MedianDifference, SwappingTheSamplesMirrorsTheInterval) {
  const std::vector<double> a = uniform(300, 0, 1, 3), b = uniform(300, 0.3, 1.3, 4);
  const Interval forth = median_difference(a, b), back = median_difference(b, a);
  EXPECT_EQ(forth.estimate, -back.estimate);
  EXPECT_NEAR(forth.low, -back.high, 0.01);
  EXPECT_LT(forth.high, 0);
}

// 200 pairs of samples whose medians are equal: the interval must miss zero in about 5% of them. False alarm
// of the test itself: below 1e-5 (binomial, 25 or more of 200 at 5%).
TEST(MedianDifference, CoversAsOftenAsItSays) {
  std::size_t missed = 0;
  for (std::uint64_t i = 0; i < 200; ++i)
    missed += median_difference(uniform(60, 0, 1, 2 * i), uniform(60, 0, 1, 2 * i + 1), {.resamples = 500})
                  .excludes_zero();
  EXPECT_LT(missed, 25U);
}

// Reference: the table of the sign test; for n = 10 the 2nd and 9th, for n = 20 the 6th and 15th value.
TEST(MedianInterval, IsThatOfTheSignTest) {
  const auto interval_of = [](std::size_t n) {
    std::vector<double> sample(n);
    for (std::size_t i = 0; i < n; ++i)
      sample[i] = static_cast<double>(n - i);
    return median_interval(sample);
  };
  EXPECT_EQ(interval_of(5), std::nullopt);
  EXPECT_EQ(interval_of(6), (Interval{3.5, 1, 6}));
  EXPECT_EQ(interval_of(10), (Interval{5.5, 2, 9}));
  EXPECT_EQ(interval_of(20), (Interval{10.5, 6, 15}));
  EXPECT_EQ(interval_of(500), (Interval{250.5, 228, 273}));
}

TEST(MedianInterval, NothingOfNothing) {
  EXPECT_EQ(median_interval({}), std::nullopt);
}

}  // namespace
}  // namespace sluice::stats
