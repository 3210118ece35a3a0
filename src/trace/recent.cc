#include "trace/recent.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace sluice::trace {
namespace {

constexpr double kWeightMax = 1e12;
constexpr std::uint32_t kStepsPerOctave = 32;  // from kExact on

}  // namespace

GrowingWeight::GrowingWeight(double half_life) noexcept : factor_(std::exp2(1 / half_life)) {}

bool GrowingWeight::next(double& weight) noexcept {
  const bool rescale = weight_ > kWeightMax;
  if (rescale) weight_ *= kRescale;
  weight = weight_;
  weight_ *= factor_;
  return rescale;
}

std::size_t RecentCounts::bucket_of(std::uint32_t value) noexcept {
  value = std::min(value, kMax);
  if (value < kExact) return value;
  const auto octave = static_cast<std::uint32_t>(std::bit_width(value / kExact)) - 1;
  const std::uint32_t step = (value - (kExact << octave)) / (kExact << octave >> 5);
  return kExact + octave * kStepsPerOctave + step;
}

std::uint32_t RecentCounts::lowest_of(std::size_t bucket) noexcept {
  const auto index = static_cast<std::uint32_t>(bucket);
  if (index < kExact) return index;
  const std::uint32_t octave = (index - kExact) / kStepsPerOctave;
  const std::uint32_t step = (index - kExact) % kStepsPerOctave;
  return (kExact << octave) + step * (kExact << octave >> 5);
}

void RecentCounts::add(std::uint32_t value) {
  ++count_;
  double weight = 0;
  if (growing_.next(weight)) {
    for (double& b : buckets_)
      b *= GrowingWeight::kRescale;
    total_ *= GrowingWeight::kRescale;
    sum_ *= GrowingWeight::kRescale;
  }
  const std::size_t bucket = bucket_of(value);
  if (bucket >= buckets_.size()) buckets_.resize(bucket + 1);
  buckets_[bucket] += weight;
  total_ += weight;
  sum_ += weight * std::min(value, kMax);
}

double RecentCounts::mean() const noexcept {
  return total_ > 0 ? sum_ / total_ : 0;
}

double RecentCounts::quantile(double q) const noexcept {
  // Sums in another order may differ in the last digits.
  const double wanted = std::clamp(q, 0.0, 1.0) * total_ * (1 - 1e-9);
  double below = 0;
  for (std::size_t bucket = 0; bucket < buckets_.size(); ++bucket) {
    below += buckets_[bucket];
    if (below > 0 && below >= wanted) return lowest_of(bucket);
  }
  return buckets_.empty() ? 0 : lowest_of(buckets_.size() - 1);
}

}  // namespace sluice::trace
