#include "sizes/size_estimate.h"

#include <algorithm>
#include <cmath>

#include "base/assert.h"

namespace sluice::sizes {
namespace {

constexpr double kGrowth = 1.0027112750502025;  // 2^(1 / kHalfLife)
constexpr double kScaleMax = 1e6;               // in float there is room for more than its digits

}  // namespace

std::size_t SizeEstimate::bucket_of(double seconds) noexcept {
  int exponent = 0;
  const double mantissa = std::frexp(std::clamp(seconds, kLeast, kMost), &exponent);  // in [1/2, 1)
  const int part = static_cast<int>((mantissa - 0.5) * (2 * kParts));
  const auto bucket = static_cast<std::size_t>((exponent + 19) * kParts + part);
  return std::min(bucket, kBuckets - 1);
}

void SizeEstimate::add(double seconds) noexcept {
  if (!(seconds >= 0) || !std::isfinite(seconds)) return;
  ++count_;
  scale_ *= kGrowth;
  if (scale_ > kScaleMax) rescale();
  buckets_[bucket_of(seconds)] += static_cast<float>(scale_);
  weight_ += scale_;
  sum_ += scale_ * seconds;
}

void SizeEstimate::rescale() noexcept {
  for (float& bucket : buckets_)
    bucket = static_cast<float>(bucket / scale_);
  weight_ /= scale_;
  sum_ /= scale_;
  scale_ = 1;
}

double SizeEstimate::quantile(double q) const noexcept {
  SLUICE_ASSERT(q >= 0 && q <= 1);
  double all = 0;  // weight_, but for rounding
  for (const float bucket : buckets_)
    all += static_cast<double>(bucket);
  if (!(all > 0)) return 0;
  double below = 0;
  std::size_t found = 0;
  for (std::size_t i = 0; i < kBuckets; ++i) {
    if (!(buckets_[i] > 0)) continue;
    found = i;
    below += static_cast<double>(buckets_[i]);
    if (below >= q * all) break;
  }
  const double part = 0.5 + (static_cast<double>(found % kParts) + 0.5) / (2 * kParts);
  return std::ldexp(part, static_cast<int>(found / kParts) - 19);
}

}  // namespace sluice::sizes
