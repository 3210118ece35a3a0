#include "sluice/stats/size_sketch.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "sluice/stats/portable_math.h"

#include "base/assert.h"

namespace sluice::stats {

SizeSketch::SizeSketch(double half_life) noexcept
    : growth_(half_life > 0 ? portable::exp(0.69314718055994531 / half_life) : 1) {}

std::size_t SizeSketch::bucket_of(double size) noexcept {
  int exponent = 0;
  const double mantissa = std::frexp(size, &exponent);  // size = mantissa 2^exponent, mantissa in [1/2, 1)
  const int part = static_cast<int>((mantissa - 0.5) * (2 * kParts));
  return static_cast<std::size_t>((exponent - 1 - kLowestExponent) * kParts + part);
}

void SizeSketch::add(double size) noexcept {
  if (!(size > 0)) return;
  size = std::clamp(size, kSmallest, kLargest);
  scale_ *= growth_;
  if (scale_ > 1e100) rescale();
  Bucket& bucket = buckets_[bucket_of(size)];
  bucket.weight += scale_;
  bucket.sum += scale_ * size;
  weight_ += scale_;
}

void SizeSketch::rescale() noexcept {
  weight_ = 0;
  for (Bucket& bucket : buckets_) {
    bucket.weight /= scale_;
    bucket.sum /= scale_;
    // What has faded to less than a billionth of a value is forgotten for good.
    if (bucket.weight < 1e-9) bucket = {};
    weight_ += bucket.weight;
  }
  scale_ = 1;
}

std::optional<double> SizeSketch::quantile(double q) const noexcept {
  SLUICE_ASSERT(q >= 0 && q <= 1);
  if (!(weight_ > 0)) return std::nullopt;
  double below = 0;
  std::optional<double> found;
  for (const Bucket& bucket : buckets_) {
    if (!(bucket.weight > 0)) continue;
    found = bucket.sum / bucket.weight;
    below += bucket.weight;
    if (below >= q * weight_) break;
  }
  return found;
}

double SizeSketch::mean() const noexcept {
  double sum = 0;
  for (const Bucket& bucket : buckets_)
    sum += bucket.sum;
  return weight_ > 0 ? sum / weight_ : 0;
}

std::optional<Empirical> SizeSketch::law() const {
  std::vector<Empirical::Atom> atoms;
  for (const Bucket& bucket : buckets_)
    if (bucket.weight > 0) atoms.push_back({bucket.sum / bucket.weight, bucket.weight});
  if (atoms.empty()) return std::nullopt;
  return Empirical(std::move(atoms));
}

}  // namespace sluice::stats
