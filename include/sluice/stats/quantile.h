#pragma once

#include <span>

namespace sluice::stats {

// The q-quantile by linear interpolation between order statistics (type 7: Hyndman and Fan, "Sample Quantiles
// in Statistical Packages", The American Statistician 50(4), 1996), the rule of R, NumPy and spreadsheets.
// Shape:  `sorted` ascending and not empty, q in [0, 1].
double quantile_sorted(std::span<const double> sorted, double q) noexcept;

// The same of a sample in any order, of which it makes a copy. Not empty. O(n log n).
double quantile(std::span<const double> sample, double q);

// The middle value, or the mean of the two middle values. Not empty; reorders the sample. O(n).
double median_in_place(std::span<double> sample) noexcept;
double median(std::span<const double> sample);

}  // namespace sluice::stats
