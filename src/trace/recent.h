#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sluice::trace {

// Weights of samples that grow by the same factor from one to the next, so that a sample counts half as much
// after `half_life` more: what is computed with them follows a change, and a quiet spell forgets nothing.
// Source: Cormode, Shkapenyuk, Srivastava, Xu, "Forward Decay: A Practical Time Decay Model for Streaming
//         Systems", ICDE 2009, with the number of samples in the place of time.
class GrowingWeight {
 public:
  explicit GrowingWeight(double half_life) noexcept;
  // Of the next sample. When it says true, all weights so far are first to be multiplied by kRescale.
  bool next(double& weight) noexcept;

  static constexpr double kRescale = 1e-12;

 private:
  double factor_;
  double weight_ = 1;
};

// Distribution of recent counts (N_serial): mean and quantiles.
// Shape:  exact up to kExact; above, in steps of at most 1/32 of the value, up to kMax, which also stands for
//         all above. Grows with the largest value seen, to kBuckets floats at most.
class RecentCounts {
 public:
  static constexpr std::uint32_t kExact = 64;
  static constexpr std::uint32_t kMax = 65535;
  static constexpr double kHalfLife = 200;

  void add(std::uint32_t value);
  std::uint64_t count() const noexcept { return count_; }  // of samples ever
  double mean() const noexcept;                            // 0 without samples
  // The least value such that q of the weight lies at or below it; 0 without samples. q in [0, 1].
  double quantile(double q) const noexcept;

  static std::size_t bucket_of(std::uint32_t value) noexcept;
  static std::uint32_t lowest_of(std::size_t bucket) noexcept;

 private:
  std::uint64_t count_ = 0;
  GrowingWeight growing_{kHalfLife};
  double total_ = 0;
  double sum_ = 0;
  std::vector<double> buckets_;
};

// How recent samples are spread over a few kinds.
template <std::size_t Kinds>
class RecentShares {
 public:
  static constexpr double kHalfLife = 1000;

  void add(std::size_t kind) noexcept {
    double weight = 0;
    if (growing_.next(weight)) {
      for (double& w : weights_)
        w *= GrowingWeight::kRescale;
      total_ *= GrowingWeight::kRescale;
    }
    total_ += weight;
    if (kind < Kinds) weights_[kind] += weight;
  }
  bool empty() const noexcept { return total_ == 0; }
  double share(std::size_t kind) const noexcept { return total_ > 0 ? weights_[kind] / total_ : 0; }
  // The first of those with the greatest share.
  std::size_t greatest() const noexcept {
    std::size_t best = 0;
    for (std::size_t kind = 1; kind < Kinds; ++kind)
      if (weights_[kind] > weights_[best]) best = kind;
    return best;
  }

 private:
  GrowingWeight growing_{kHalfLife};
  double total_ = 0;
  std::array<double, Kinds> weights_{};
};

}  // namespace sluice::trace
