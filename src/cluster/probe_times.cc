#include "cluster/probe_times.h"

#include <algorithm>
#include <cmath>

namespace sluice::cluster {

void ProbeTimes::add(std::chrono::nanoseconds round_trip) {
  const auto ns = static_cast<double>(round_trip.count());
  ewma_ns_ = count_ == 0 ? ns : kEwmaWeight * ns + (1 - kEwmaWeight) * ewma_ns_;
  window_[next_] = round_trip;
  next_ = (next_ + 1) % kWindow;
  count_ = std::min(count_ + 1, kWindow);
}

std::chrono::nanoseconds ProbeTimes::last() const noexcept {
  return count_ == 0 ? std::chrono::nanoseconds(0) : window_[(next_ + kWindow - 1) % kWindow];
}

std::chrono::nanoseconds ProbeTimes::median() const {
  if (count_ == 0) return std::chrono::nanoseconds(0);
  auto sorted = window_;
  const auto end = sorted.begin() + static_cast<std::ptrdiff_t>(count_);
  std::sort(sorted.begin(), end);
  return (sorted[(count_ - 1) / 2] + sorted[count_ / 2]) / 2;
}

std::chrono::nanoseconds ProbeTimes::minimum() const {
  if (count_ == 0) return std::chrono::nanoseconds(0);
  return *std::min_element(window_.begin(), window_.begin() + static_cast<std::ptrdiff_t>(count_));
}

std::chrono::nanoseconds ProbeTimes::ewma() const noexcept {
  return std::chrono::nanoseconds(std::llround(ewma_ns_));
}

}  // namespace sluice::cluster
