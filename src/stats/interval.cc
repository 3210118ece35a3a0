#include "sluice/stats/interval.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "sluice/rng.h"
#include "sluice/stats/quantile.h"

#include "base/assert.h"

namespace sluice::stats {
namespace {

// The median of a sample drawn from `sorted` with replacement. Counts how often each value is drawn and walks
// to the middle: cheaper than to select among the drawn values. `counts` is scratch space of the same size.
double resampled_median(std::span<const double> sorted, std::span<std::uint32_t> counts, Rng& rng) {
  const std::size_t n = sorted.size();
  std::fill(counts.begin(), counts.end(), 0U);
  for (std::size_t i = 0; i < n; ++i)
    ++counts[rng.below(n)];
  const std::size_t low_rank = (n - 1) / 2, high_rank = n / 2;
  std::size_t seen = 0, at = 0;
  while (seen + counts[at] <= low_rank)
    seen += counts[at++];
  const double low = sorted[at];
  while (seen + counts[at] <= high_rank)
    seen += counts[at++];
  return low_rank == high_rank ? low : (low + sorted[at]) / 2;
}

std::vector<double> sorted_copy(std::span<const double> sample) {
  std::vector<double> sorted(sample.begin(), sample.end());
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

// The most values that can be cut off at either end of a sample of n so that the interval between the next
// ones covers the median with at least the level: the largest k >= 1 with P(Binomial(n, 1/2) < k) <= (1 -
// level) / 2. 0 when there is none.
std::size_t order_statistic(std::size_t n, double confidence_level) {
  const double tail_max = (1 - confidence_level) / 2;
  const double log_half_n = static_cast<double>(n) * std::log(0.5);
  double tail = 0, log_choose = 0;  // of (n over i)
  for (std::size_t i = 0; i < n; ++i) {
    tail += std::exp(log_choose + log_half_n);
    if (tail > tail_max) return i;
    log_choose += std::log(static_cast<double>(n - i)) - std::log(static_cast<double>(i + 1));
  }
  return 0;
}

}  // namespace

Interval median_difference(std::span<const double> a, std::span<const double> b, const Bootstrap& how) {
  SLUICE_ASSERT(!a.empty() && !b.empty() && how.resamples >= 1);
  const std::vector<double> sorted_a = sorted_copy(a), sorted_b = sorted_copy(b);
  std::vector<std::uint32_t> counts(std::max(a.size(), b.size()));
  const std::span<std::uint32_t> scratch(counts);
  Rng rng(how.seed);
  std::vector<double> differences(how.resamples);
  for (double& difference : differences) {
    const double of_a = resampled_median(sorted_a, scratch.first(a.size()), rng);
    difference = of_a - resampled_median(sorted_b, scratch.first(b.size()), rng);
  }
  std::sort(differences.begin(), differences.end());
  const double tail = (1 - how.confidence_level) / 2;
  return {quantile_sorted(sorted_a, 0.5) - quantile_sorted(sorted_b, 0.5), quantile_sorted(differences, tail),
          quantile_sorted(differences, 1 - tail)};
}

std::optional<Interval> median_interval(std::span<const double> sample, double confidence_level) {
  const std::size_t k = order_statistic(sample.size(), confidence_level);
  if (k == 0) return std::nullopt;
  const std::vector<double> sorted = sorted_copy(sample);
  return Interval{quantile_sorted(sorted, 0.5), sorted[k - 1], sorted[sorted.size() - k]};
}

}  // namespace sluice::stats
