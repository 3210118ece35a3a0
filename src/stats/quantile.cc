#include "sluice/stats/quantile.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/assert.h"

namespace sluice::stats {

double quantile_sorted(std::span<const double> sorted, double q) noexcept {
  SLUICE_ASSERT(!sorted.empty() && q >= 0 && q <= 1);
  const double at = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(std::floor(at));
  if (below + 1 >= sorted.size()) return sorted.back();
  return sorted[below] + (at - static_cast<double>(below)) * (sorted[below + 1] - sorted[below]);
}

double quantile(std::span<const double> sample, double q) {
  std::vector<double> sorted(sample.begin(), sample.end());
  std::sort(sorted.begin(), sorted.end());
  return quantile_sorted(sorted, q);
}

double median_in_place(std::span<double> sample) noexcept {
  SLUICE_ASSERT(!sample.empty());
  const auto middle = sample.begin() + static_cast<std::ptrdiff_t>(sample.size() / 2);
  std::nth_element(sample.begin(), middle, sample.end());
  if (sample.size() % 2 == 1) return *middle;
  return (*std::max_element(sample.begin(), middle) + *middle) / 2;
}

double median(std::span<const double> sample) {
  std::vector<double> copy(sample.begin(), sample.end());
  return median_in_place(copy);
}

}  // namespace sluice::stats
