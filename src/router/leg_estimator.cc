#include "router/leg_estimator.h"

#include <algorithm>
#include <vector>

namespace sluice::router {
namespace {

using std::chrono::nanoseconds;

// The upper of the two in the middle; not empty.
nanoseconds median(const std::vector<const LegReading*>& readings, nanoseconds LegReading::*what) {
  std::vector<nanoseconds> values;
  for (const LegReading* reading : readings)
    values.push_back(reading->*what);
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

void LegEstimator::add(const LegReading& reading) noexcept {
  readings_[next_] = reading;
  next_ = (next_ + 1) % kKept;
  ++total_;
}

LegEstimator::Leg LegEstimator::leg() const {
  Leg leg;
  if (total_ == 0) return leg;
  leg.samples = total_;
  leg.measured_at = readings_[(next_ + kKept - 1) % kKept].at;
  std::vector<const LegReading*> all, young;
  for (std::size_t i = 0; i < std::min<std::uint64_t>(total_, kKept); ++i) {
    const LegReading& reading = readings_[i];
    if (reading.at < leg.measured_at - kSpan) continue;
    all.push_back(&reading);
    if (reading.young) young.push_back(&reading);
  }
  const auto& counted = young.size() >= kYoungEnough ? young : all;
  leg.estimate = median(counted, &LegReading::minimum);
  leg.smoothed = median(counted, &LegReading::smoothed);
  leg.deviation = median(counted, &LegReading::deviation);
  leg.minimum = (*std::min_element(counted.begin(), counted.end(), [](const auto* a, const auto* b) {
                  return a->minimum < b->minimum;
                }))->minimum;
  return leg;
}

}  // namespace sluice::router
