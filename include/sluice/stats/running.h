#pragma once

#include <cmath>
#include <cstdint>

namespace sluice::stats {

// Count, mean and variance of values that are not kept. Source: Welford, "Note on a Method for Calculating
// Corrected Sums of Squares and Products", Technometrics 4(3), 1962.
class Running {
 public:
  void add(double value) noexcept {
    ++count_;
    const double delta = value - mean_;
    mean_ += delta / static_cast<double>(count_);
    squares_ += delta * (value - mean_);
  }

  std::uint64_t count() const noexcept { return count_; }
  double mean() const noexcept { return mean_; }  // 0 of nothing
  // Of the values themselves (divided by n), and as an estimate of the law's (by n - 1); 0 of too few.
  double population_variance() const noexcept {
    return count_ > 0 ? squares_ / static_cast<double>(count_) : 0;
  }
  double sample_variance() const noexcept {
    return count_ > 1 ? squares_ / static_cast<double>(count_ - 1) : 0;
  }

 private:
  std::uint64_t count_ = 0;
  double mean_ = 0, squares_ = 0;
};

}  // namespace sluice::stats
