#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace sluice::stats {

// An estimate with its confidence interval.
struct Interval {
  double estimate = 0, low = 0, high = 0;

  bool excludes_zero() const noexcept { return low > 0 || high < 0; }
  friend bool operator==(const Interval&, const Interval&) = default;
};

struct Bootstrap {
  std::size_t resamples = 10'000;
  double confidence_level = 0.95;
  std::uint64_t seed = 1;
};

// median(a) - median(b) with the percentile bootstrap interval: each sample is drawn from again, with
// replacement, to its own size, independently of the other; type-7 quantiles of the differences. Source:
// Efron and Tibshirani, "An Introduction to the Bootstrap", 1993, chapter 13. The same seed gives the same
// interval on every machine. Shape:  neither sample empty, resamples >= 1. O(resamples x (|a| + |b|)).
Interval median_difference(std::span<const double> a, std::span<const double> b, const Bootstrap& = {});

// The median with the interval between two order statistics whose coverage is at least the level, whatever
// the distribution. Source: Conover, "Practical Nonparametric Statistics", 1999, section 3.2: the number of
// values below the median is Binomial(n, 1/2). nullopt when the sample is too small for the level (below 6
// for 95%).
std::optional<Interval> median_interval(std::span<const double> sample, double confidence_level = 0.95);

}  // namespace sluice::stats
