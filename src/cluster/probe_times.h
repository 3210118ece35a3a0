#pragma once

#include <array>
#include <chrono>
#include <cstddef>

namespace sluice::cluster {

// Round trips of SELECT 1: the last one, the median and minimum of the last kWindow, and a moving average
// with weight kEwmaWeight for the newest. All 0 before the first. Pure.
class ProbeTimes {
 public:
  static constexpr std::size_t kWindow = 31;
  static constexpr double kEwmaWeight = 0.2;

  void add(std::chrono::nanoseconds round_trip);

  std::size_t count() const noexcept { return count_; }  // in the window
  std::chrono::nanoseconds last() const noexcept;
  std::chrono::nanoseconds median() const;
  std::chrono::nanoseconds minimum() const;
  std::chrono::nanoseconds ewma() const noexcept;

 private:
  std::array<std::chrono::nanoseconds, kWindow> window_{};
  std::size_t count_ = 0, next_ = 0;
  double ewma_ns_ = 0;
};

}  // namespace sluice::cluster
