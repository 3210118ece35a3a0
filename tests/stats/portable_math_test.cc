#include "sluice/stats/portable_math.h"

#include <bit>
#include <cmath>
#include <cstdint>

#include <gtest/gtest.h>

#include "sluice/rng.h"

namespace sluice::stats::portable {
namespace {

double relative_error(double got, double want) {
  return std::fabs(got - want) / std::fabs(want);
}

TEST(PortableMath, LogAndExpAgreeWithTheCLibrary) {
  Rng rng(1);
  for (int i = 0; i < 20'000; ++i) {
    const double x = std::exp((rng.unit() - 0.5) * 1400);
    EXPECT_NEAR(log(x), std::log(x), 4e-16 * std::fabs(std::log(x)) + 1e-17) << x;
    const double y = (rng.unit() - 0.5) * 1400;
    EXPECT_LT(relative_error(exp(y), std::exp(y)), 1e-15) << y;
    const double near_one = 1 + (rng.unit() - 0.5) * 0.1;
    EXPECT_NEAR(log(near_one), std::log(near_one), 4e-16 * std::fabs(std::log(near_one))) << near_one;
  }
  EXPECT_EQ(log(1), 0);
  EXPECT_EQ(exp(0), 1);
  EXPECT_EQ(exp(-1e4), 0);
  EXPECT_EQ(exp(1e4), HUGE_VAL);
}

TEST(PortableMath, PowersKeepThePromisedDigits) {
  Rng rng(2);
  for (int i = 0; i < 5'000; ++i) {
    const double x = std::exp((rng.unit() - 0.5) * 60), y = (rng.unit() - 0.5) * 6;
    EXPECT_LT(relative_error(pow(x, y), std::pow(x, y)), 1e-15 * (1 + std::fabs(y * std::log(x))))
        << x << ' ' << y;
  }
}

TEST(PortableMath, NormalCdfAgreesWithErfcInBothTails) {
  for (double x = -30; x <= 8; x += 0.0625)
    EXPECT_LT(relative_error(normal_cdf(x), std::erfc(-x / std::sqrt(2.0)) / 2), 2e-13) << x;
}

TEST(PortableMath, NormalQuantileIsTheInverse) {
  EXPECT_EQ(normal_quantile(0.5), 0);
  EXPECT_NEAR(normal_quantile(0.975), 1.959963984540054, 1e-14);
  for (double z = -12; z <= 5; z += 0.125)
    EXPECT_NEAR(normal_quantile(normal_cdf(z)), z, 1e-10) << z;
}

TEST(PortableMath, LogGammaAgreesWithTheCLibrary) {
  for (double x = 0.125; x < 300; x *= 1.1)
    EXPECT_NEAR(log_gamma(x), std::lgamma(x), 1e-12 * (1 + std::fabs(std::lgamma(x)))) << x;
}

// The very bits, so that a compiler option or a processor that changes them is noticed.
TEST(PortableMath, GivesTheseBitsEverywhere) {
  std::uint64_t digest = 0;
  Rng rng(3);
  for (int i = 0; i < 1'000; ++i) {
    const double u = rng.unit() + 0x1p-60;
    for (const double v : {log(u), exp(u), pow(u, -0.9), normal_quantile(u), normal_cdf(u), log_gamma(u)})
      digest = digest * 0x9E3779B97F4A7C15u + std::bit_cast<std::uint64_t>(v);
  }
  EXPECT_EQ(digest, 15409108863830410765U);
}

}  // namespace
}  // namespace sluice::stats::portable
