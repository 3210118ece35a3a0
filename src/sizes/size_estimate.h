#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace sluice::sizes {

// What is known of the sizes of one kind of work: count, mean and quantiles, the newest counting most.
// Source: forward decay (Cormode, Shkapenyuk, Srivastava and Xu, "Forward Decay: A Practical Time Decay Model
// for
//         Streaming Systems", ICDE 2009) over values in the order in which they came; buckets as of an HDR
//         histogram, four to a power of two.
// Shape:  below kLeast and above kMost values count as these; the mean is exact. 600 bytes, none elsewhere.
// Units:  seconds.
class SizeEstimate {
 public:
  static constexpr double kLeast = 0x1p-20, kMost = 0x1p12;  // about 1 us and 68 minutes
  static constexpr double kHalfLife = 256;                   // values after which one counts half
  // So few values are no estimate.
  static constexpr std::uint64_t kKnownFrom = 5;

  // Not negative, and a number. O(1).
  void add(double seconds) noexcept;

  std::uint64_t count() const noexcept { return count_; }
  double mean() const noexcept { return weight_ > 0 ? sum_ / weight_ : 0; }
  // The mean, once there are enough values.
  std::optional<double> expected() const noexcept {
    return count_ >= kKnownFrom ? std::optional(mean()) : std::nullopt;
  }
  // Middle of the bucket, so off by at most an eighth; 0 while empty. q in [0, 1]. O(buckets).
  double quantile(double q) const noexcept;

 private:
  static constexpr int kParts = 4;  // of a power of two
  static constexpr std::size_t kBuckets = 32 * kParts;

  static std::size_t bucket_of(double seconds) noexcept;
  void rescale() noexcept;

  std::array<float, kBuckets> buckets_{};
  double weight_ = 0, sum_ = 0;
  double scale_ = 1;  // weight of the newest value
  std::uint64_t count_ = 0;
};

}  // namespace sluice::sizes
