#pragma once

#include <array>
#include <chrono>
#include <cstdint>

#include "sluice/placement/cost.h"

namespace sluice::placement {

// Where the response times of one route on one host lie, learnt one sample at a time.
//
// A weighted mean whose innovations are clipped at a few times their usual size, so that one wild sample
// moves it by no more than a usual one; its weight decays with time, so that old samples give way to new
// ones; and when the median of the last kRecent samples lies far outside the usual scatter, the level starts
// again there, so that a lasting change is believed after three samples; with the scatter of those five, so
// that three that came so by chance do not pass for certain. Sources: clipping after Huber, "Robust
// Estimation of a Location Parameter", Annals of Mathematical Statistics 35(1), 1964; the restart is a
// running median test.
//
// Shape: 48 bytes, no allocation, O(kRecent) per sample. A value: copy freely.
class ResponseLevel {
 public:
  static constexpr std::size_t kRecent = 5;
  static constexpr float kWeightMax = 64;  // samples that count at most: the memory at high rates

  enum class Change { None, Restarted };

  // Takes a sample >= 0. `forget_after`: time in which its weight falls to 1/e.
  Change add(Millis sample, std::chrono::nanoseconds now, Millis forget_after) noexcept;

  // Samples that still count at `now`: 0 before the first.
  double weight(std::chrono::nanoseconds now, Millis forget_after) const noexcept;
  Millis level() const noexcept { return Millis(level_); }
  // Standard deviation of a sample, estimated from clipped deviations.
  Millis scatter() const noexcept;
  bool empty() const noexcept { return recent_count_ == 0; }
  std::chrono::nanoseconds last_at() const noexcept { return last_at_; }

 private:
  float recent_median() const noexcept;
  float recent_deviation() const noexcept;  // mean absolute one from level_, each clipped at level_

  std::array<float, kRecent> recent_{};
  std::uint8_t recent_count_ = 0, recent_next_ = 0;
  std::int8_t run_ = 0;  // samples in a row above the level, or, negative, below
  float level_ = 0;
  float deviation_ = 0;  // mean absolute deviation, clipped
  float weight_ = 0;     // at last_at_
  std::chrono::nanoseconds last_at_{};
};

}  // namespace sluice::placement
