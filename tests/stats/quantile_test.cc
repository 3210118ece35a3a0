#include "sluice/stats/quantile.h"

#include <array>
#include <vector>

#include <gtest/gtest.h>

namespace sluice::stats {
namespace {

// Reference: R 4, quantile(c(1, 3, 4, 8, 15, 16), q, type = 7).
TEST(Quantile, IsTypeSeven) {
  const std::array sample{16.0, 1.0, 8.0, 3.0, 15.0, 4.0};
  EXPECT_DOUBLE_EQ(quantile(sample, 0), 1);
  EXPECT_DOUBLE_EQ(quantile(sample, 0.025), 1.25);
  EXPECT_DOUBLE_EQ(quantile(sample, 0.25), 3.25);
  EXPECT_DOUBLE_EQ(quantile(sample, 0.5), 6);
  EXPECT_DOUBLE_EQ(quantile(sample, 0.9), 15.5);
  EXPECT_DOUBLE_EQ(quantile(sample, 1), 16);
}

TEST(Quantile, OfOneValueIsThatValue) {
  const std::array sample{7.0};
  for (const double q : {0.0, 0.3, 1.0})
    EXPECT_EQ(quantile(sample, q), 7);
}

TEST(Median, IsTheMiddleValueOrTheMeanOfTheTwo) {
  EXPECT_EQ(median(std::array{3.0, 1.0, 2.0}), 2);
  EXPECT_EQ(median(std::array{4.0, 1.0, 3.0, 2.0}), 2.5);
  EXPECT_EQ(median(std::array{1.0, 1.0, 1.0, 9.0}), 1);
}

TEST(Median, AgreesWithTheQuantileForEverySize) {
  std::vector<double> sample;
  for (int i = 0; i < 50; ++i) {
    sample.push_back((i * 37) % 53);
    EXPECT_DOUBLE_EQ(median(sample), quantile(sample, 0.5)) << sample.size();
  }
}

}  // namespace
}  // namespace sluice::stats
