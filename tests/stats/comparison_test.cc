#include "sluice/stats/comparison.h"

#include <array>
#include <cstdlib>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include "sluice/rng.h"

namespace sluice::stats {
namespace {

TEST(Comparison, GoldenCases) {
  const char* root = std::getenv("SLUICE_SOURCE_DIR");
  ASSERT_NE(root, nullptr) << "run the test through ctest";
  std::size_t checked = 0;
  for (const YAML::Node& node :
       YAML::LoadFile(std::string(root) + "/tests/golden/placement.yaml")["stats_cases"]) {
    const auto kind = node["kind"].as<std::string>();
    SCOPED_TRACE(node["id"].as<std::string>());
    const auto expect = node["expect"].as<std::vector<double>>();
    if (kind == "welch") {
      const auto x = node["x"].as<std::vector<double>>(), y = node["y"].as<std::vector<double>>();
      const auto got = welch(x, y);
      ASSERT_TRUE(got);
      EXPECT_NEAR(got->t, expect[0], 5e-5);
      EXPECT_NEAR(got->degrees, expect[1], 5e-5);
      EXPECT_NEAR(got->p, expect[2], 5e-9);
      EXPECT_NEAR(*hedges_g(x, y), expect[3], 5e-5);
      ++checked;
    } else if (kind == "cv") {
      const auto u = node["u"].as<std::vector<double>>();
      double sum = 0;
      for (const double value : u)
        sum += value;
      EXPECT_NEAR(sum / static_cast<double>(u.size()), expect[0], 1e-9);
      EXPECT_NEAR(coefficient_of_variation(u), expect[1], 5e-3);
      ++checked;
    }
  }
  EXPECT_EQ(checked, 2U);
}

// Reference: the usual table of critical values.
TEST(StudentT, HasTheTabledQuantiles) {
  EXPECT_NEAR(student_t_quantile(0.975, 1), 12.7062047362, 1e-8);
  EXPECT_NEAR(student_t_quantile(0.975, 2), 4.3026527297, 1e-9);
  EXPECT_NEAR(student_t_quantile(0.975, 9), 2.2621571628, 1e-9);
  EXPECT_NEAR(student_t_quantile(0.995, 30), 2.7499956536, 1e-9);
  EXPECT_NEAR(student_t_quantile(0.975, 1e7), 1.9599642, 1e-6);
  EXPECT_EQ(student_t_quantile(0.5, 3), 0);
  EXPECT_NEAR(student_t_quantile(0.025, 9), -2.2621571628, 1e-9);
  EXPECT_NEAR(student_t_two_sided(1, 1), 0.5, 1e-12);  // Cauchy
  EXPECT_EQ(student_t_two_sided(0, 5), 1);
}

// 2,000 samples of 5: the interval must miss the true mean in 5% of them. False alarm below 1e-6 (binomial, 5
// standard deviations on either side).
TEST(MeanInterval, CoversAsOftenAsItSays) {
  Rng rng(3);
  int missed = 0;
  for (int i = 0; i < 2'000; ++i) {
    std::array<double, 5> sample{};
    for (double& value : sample)
      for (int k = 0; k < 12; ++k)
        value += rng.unit() - 0.5;
    missed += mean_interval(sample).excludes_zero();
  }
  EXPECT_NEAR(missed, 100, 49);
}

TEST(Comparison, SaysNothingOfTooLittle) {
  const std::array one{1.0};
  const std::array two{1.0, 1.0}, other{2.0, 2.0};
  EXPECT_FALSE(welch(one, two));
  EXPECT_FALSE(welch(two, other));
  EXPECT_FALSE(hedges_g(one, two));
  EXPECT_FALSE(hedges_g(two, other));
  EXPECT_EQ(coefficient_of_variation(std::array{0.0, 0.0}), 0);
}

TEST(Holm, AdjustsInTheOrderGiven) {
  const std::array p{0.04, 0.01, 0.03, 0.005};
  const auto adjusted = holm(p);
  const std::array want{0.06, 0.03, 0.06, 0.02};
  for (std::size_t i = 0; i < 4; ++i)
    EXPECT_NEAR(adjusted[i], want[i], 1e-12) << i;
  EXPECT_EQ(holm(std::array{0.9, 0.8}), (std::vector<double>{1, 1}));
  EXPECT_TRUE(holm({}).empty());
}

}  // namespace
}  // namespace sluice::stats
