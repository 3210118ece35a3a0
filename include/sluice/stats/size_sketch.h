#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "sluice/stats/law.h"

namespace sluice::stats {

// The law of a stream of sizes, in bounded memory, of which what is old counts less and less: quantiles, and
// with law() moments and cutoffs. Sources: HdrHistogram's buckets (a power of two in 32 equal parts),
// DDSketch (Masson, Rim and Lee, VLDB 2019) for the guarantee, forward decay (Cormode, Shkapenyuk, Srivastava
// and Xu, ICDE 2009) for forgetting. 32 KiB, all of it inside; add() and quantile() allocate nothing. The
// same bits everywhere. Units:  the caller's, say seconds.
class SizeSketch {
 public:
  static constexpr int kLowestExponent = -40, kHighestExponent = 24;
  static constexpr double kSmallest = 0x1p-40, kLargest = 0x1.fffffp+23;  // about 1e-12 and 1.7e7

  // After `half_life` further values a value counts half; 0: nothing is forgotten.
  explicit SizeSketch(double half_life = 0) noexcept;

  // A value that is not positive or not a number is not counted; others count as the nearest in
  // [kSmallest, kLargest]. O(1).
  void add(double size) noexcept;

  double weight() const noexcept { return weight_ / scale_; }  // of the values, the newest weighing 1
  // nullopt while empty. Relative error at most 1/64. q in [0, 1].
  std::optional<double> quantile(double q) const noexcept;
  double mean() const noexcept;  // 0 while empty
  // One atom per bucket in use, at the mean of the values in it. nullopt while empty.
  std::optional<Empirical> law() const;

 private:
  static constexpr int kParts = 32;  // of a power of two

  struct Bucket {
    double weight = 0, sum = 0;
  };
  static std::size_t bucket_of(double size) noexcept;
  void rescale() noexcept;

  double growth_;     // by which a value weighs more than the one before it
  double scale_ = 1;  // weight of the newest value
  double weight_ = 0;
  std::array<Bucket, (kHighestExponent - kLowestExponent) * kParts> buckets_{};
};

}  // namespace sluice::stats
