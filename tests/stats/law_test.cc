#include "sluice/stats/law.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "sluice/stats/running.h"

namespace sluice::stats {
namespace {

// To the digits of the reference: 5 significant ones.
#define EXPECT_DIGITS(got, want) EXPECT_NEAR(got, want, 6e-6 * std::fabs(want))

// Mean 3000, p = 1e10: the task sizes of the papers on size-based assignment.
TEST(BoundedPareto, HasTheReferenceMoments) {
  struct Row {
    double alpha, k, second, squared_cv, inverse, inverse_square;
  };
  const Row rows[] = {{0.5, 0.000900000, 1.00000e13, 1.11111e6, 370.370, 246914},
                      {1.0, 167.555, 1.67555e12, 186172, 2.98409e-3, 1.18731e-5},
                      {1.1, 332.067, 7.25269e11, 80584.4, 1.57742e-3, 3.21794e-6},
                      {1.5, 1000.32, 9.48833e9, 1053.26, 5.99810e-4, 4.28300e-7},
                      {1.9, 1421.05, 1.47289e8, 15.3655, 4.61047e-4, 2.41250e-7}};
  for (const Row& row : rows) {
    SCOPED_TRACE(row.alpha);
    const auto law = BoundedPareto::with_mean(3000, 1e10, row.alpha);
    EXPECT_DIGITS(law.k(), row.k);
    EXPECT_DIGITS(law.mean(), 3000);
    EXPECT_DIGITS(law.moment(2), row.second);
    EXPECT_DIGITS(law.squared_cv(), row.squared_cv);
    EXPECT_DIGITS(law.moment(-1), row.inverse);
    EXPECT_DIGITS(law.moment(-2), row.inverse_square);
    EXPECT_NEAR(law.moment(0), 1, 1e-12);
  }
}

// "0.3% of jobs carry half of the load", alpha = 1.1.
TEST(BoundedPareto, FewJobsCarryHalfOfTheWork) {
  const auto law = BoundedPareto::with_mean(3000, 1e10, 1.1);
  double low = 332, high = 1e10;
  for (int i = 0; i < 100; ++i) {
    const double middle = std::sqrt(low * high);
    (law.partial_moment(1, 0, middle) < 1500 ? low : high) = middle;
  }
  EXPECT_NEAR(law.partial_moment(0, low, kInfinity), 0.00298, 0.000005);
}

TEST(BoundedPareto, MomentsPassSmoothlyThroughTheOrderAlpha) {
  const BoundedPareto law(1, 1e6, 1.5);
  const double at = law.moment(1.5);
  for (const double off : {1e-13, 1e-11, 1e-9, 1e-7})
    EXPECT_NEAR(law.moment(1.5 + off) / at, 1, 20 * off + 1e-6) << off;
}

TEST(BoundedPareto, QuantileInvertsTheDistribution) {
  const BoundedPareto law(2, 1e5, 1.1);
  EXPECT_DOUBLE_EQ(law.quantile(0), 2);
  EXPECT_NEAR(law.quantile(1), 1e5, 1e-6);
  for (double u = 0.001; u < 1; u += 0.013)
    EXPECT_NEAR(law.partial_moment(0, 0, law.quantile(u)), u, 1e-12);
}

std::vector<std::unique_ptr<ContinuousLaw>> continuous_laws() {
  std::vector<std::unique_ptr<ContinuousLaw>> laws;
  laws.push_back(std::make_unique<BoundedPareto>(BoundedPareto::with_mean(8, 1e3, 1.5)));
  laws.push_back(std::make_unique<Hyperexponential>(Hyperexponential::exponential(8)));
  laws.push_back(std::make_unique<Hyperexponential>(Hyperexponential::with_mean(8, 4)));
  laws.push_back(std::make_unique<LogNormal>(LogNormal::with_mean(8, 0.64)));
  return laws;
}

// Midpoint rule in ln x, which knows nothing of closed forms.
double integral(const ContinuousLaw& law, double j, double a, double b) {
  const int steps = 20'000;
  const double low = std::log(a), step = (std::log(b) - low) / steps;
  double sum = 0;
  for (int i = 0; i < steps; ++i) {
    const double x = std::exp(low + (i + 0.5) * step);
    sum += std::pow(x, j + 1) * law.density(x) * step;
  }
  return sum;
}

TEST(ContinuousLaws, PartialMomentsAreIntegralsOfTheDensity) {
  std::size_t which = 0;
  for (const auto& law : continuous_laws()) {
    SCOPED_TRACE(which++);
    for (const double j : {-2.0, -1.0, -0.5, 0.0, 1.0, 1.5, 2.0, 3.0}) {
      // The inner interval starts within every law's support, so that no rule meets its edge.
      const double want = integral(*law, j, 5, 60);
      EXPECT_NEAR(law->partial_moment(j, 5, 60), want, 1e-6 * want) << j;
    }
    EXPECT_EQ(law->partial_moment(1, 7, 7), 0);
    EXPECT_EQ(law->partial_moment(1, 9, 7), 0);
  }
}

TEST(ContinuousLaws, PartsAddUpToTheWhole) {
  for (const auto& law : continuous_laws())
    for (const double j : {0.0, 1.0, 2.0, 3.0}) {
      const double parts = law->partial_moment(j, 0, 3) + law->partial_moment(j, 3, 20) +
                           law->partial_moment(j, 20, kInfinity);
      EXPECT_NEAR(parts, law->moment(j), 1e-12 * parts);
    }
}

// 40,000 values with a fixed seed. The bound is 5 standard errors: false alarm below 1e-6 per law.
TEST(ContinuousLaws, DrawsHaveTheMean) {
  for (const auto& law : continuous_laws()) {
    EXPECT_NEAR(law->mean(), 8, 1e-9);
    Rng rng(11);
    Running drawn;
    for (int i = 0; i < 40'000; ++i)
      drawn.add(law->draw(rng));
    EXPECT_NEAR(drawn.mean(), 8, 5 * std::sqrt(law->squared_cv() * 64 / 40'000));
  }
}

TEST(Hyperexponential, HasTheVariabilityAskedFor) {
  EXPECT_NEAR(Hyperexponential::exponential(3).squared_cv(), 1, 1e-12);
  EXPECT_NEAR(Hyperexponential::with_mean(3, 10).squared_cv(), 10, 1e-10);
  EXPECT_NEAR(LogNormal::with_mean(3, 10).squared_cv(), 10, 1e-10);
}

TEST(Hyperexponential, InverseMomentsDiverge) {
  const auto law = Hyperexponential::exponential(1);
  EXPECT_EQ(law.moment(-1), kInfinity);
  EXPECT_EQ(law.moment(-2), kInfinity);
  EXPECT_NEAR(law.moment(-0.5), std::sqrt(3.14159265358979324), 1e-9);  // Gamma(1/2)
  EXPECT_NEAR(law.moment(0.5), std::sqrt(3.14159265358979324) / 2, 1e-9);
}

TEST(LogNormal, InverseMomentsAreThoseOfTheInverse) {
  const LogNormal law(1, 0.5);
  EXPECT_NEAR(law.moment(-1), std::exp(-1 + 0.125), 1e-12);
  EXPECT_NEAR(law.moment(-2), std::exp(-2 + 0.5), 1e-12);
}

TEST(Empirical, CountsEachValueByItsWeight) {
  const Empirical law(std::vector<Empirical::Atom>{{4, 1}, {1, 2}, {2, 1}});
  EXPECT_DOUBLE_EQ(law.mean(), 2);
  EXPECT_DOUBLE_EQ(law.moment(-1), 0.5 + 0.125 + 0.0625);
  EXPECT_DOUBLE_EQ(law.moment(3), 0.5 + 2 + 16);
  EXPECT_DOUBLE_EQ(law.partial_moment(0, 1, 2), 0.25);  // without 1, with 2
  EXPECT_DOUBLE_EQ(law.partial_moment(0, 0, 1), 0.5);
  Rng rng(1);
  int ones = 0;
  for (int i = 0; i < 1'000; ++i)
    ones += law.draw(rng) == 1;
  EXPECT_NEAR(ones, 500, 80);  // 5 standard errors
}

// The very bits: whoever repeats a published run elsewhere must meet the same jobs.
TEST(Laws, DrawTheseBitsEverywhere) {
  std::uint64_t digest = 0;
  for (const auto& law : continuous_laws()) {
    Rng rng(5);
    for (int i = 0; i < 200; ++i)
      digest = digest * 0x9E3779B97F4A7C15u + std::bit_cast<std::uint64_t>(law->draw(rng));
  }
  EXPECT_EQ(digest, 2194095536105484884U);
}

}  // namespace
}  // namespace sluice::stats
