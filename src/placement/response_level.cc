#include "sluice/placement/response_level.h"

#include <algorithm>
#include <cmath>

namespace sluice::placement {
namespace {

constexpr std::uint8_t kBelievedFrom =
    3;                         // samples before the level counts: the median of three bears a wild one
constexpr float kClip = 3;     // innovations, in deviations
constexpr float kRestart = 3;  // distance of the recent median, in deviations
constexpr float kGainMax = 1.0F / 3;
constexpr float kDeviationMin = 0.02F;  // of the level: a perfectly regular past is no reason to distrust
constexpr int kOneSided = 8;            // samples in a row on one side of the level that shorten the memory
constexpr float kOneSidedWeight = 8;    // ... to half, but not below this
constexpr float kSampleMax = 1e7F;      // ms: almost three hours

double decay(std::chrono::nanoseconds elapsed, Millis forget_after) noexcept {
  if (elapsed.count() <= 0) return 1;
  return std::exp(-Millis(elapsed) / forget_after);
}

}  // namespace

ResponseLevel::Change ResponseLevel::add(Millis sample, std::chrono::nanoseconds now,
                                         Millis forget_after) noexcept {
  const auto given = static_cast<float>(sample.count());
  const float x = given >= 0 ? std::min(given, kSampleMax) : 0;  // NaN becomes 0
  const auto kept = static_cast<float>(weight_ * decay(now - last_at_, forget_after));
  recent_[recent_next_] = x;
  recent_next_ = static_cast<std::uint8_t>((recent_next_ + 1) % kRecent);
  last_at_ = std::max(now, last_at_);

  if (recent_count_ < kRecent) {
    ++recent_count_;
    level_ = recent_median();
    weight_ = recent_count_ < kBelievedFrom ? 0 : recent_count_;
    deviation_ = std::max(recent_deviation(), 0.05F * level_);
    return Change::None;
  }

  const float gain = std::min(kGainMax, 1 / (std::min(kept, kWeightMax - 1) + 1));
  const float usual = std::max(deviation_, kDeviationMin * level_);
  const int side = x > level_ ? 1 : -1;
  run_ = static_cast<std::int8_t>(run_ * side > 0 ? std::clamp(run_ + side, -100, 100) : side);
  const float innovation = std::clamp(x - level_, -kClip * usual, kClip * usual);
  level_ += gain * innovation;
  deviation_ += gain * (std::abs(innovation) - deviation_);
  weight_ = std::min(kept + 1, kWeightMax);
  if (std::abs(run_) >= kOneSided) weight_ = std::max(weight_ / 2, std::min(weight_, kOneSidedWeight));

  const float recent = recent_median();
  if (std::abs(recent - level_) <= kRestart * std::max(deviation_, kDeviationMin * level_))
    return Change::None;
  // Three of five that lie elsewhere may still be chance: until more have come, their own scatter says how
  // sure the new level is.
  level_ = recent;
  deviation_ = std::max({deviation_, 0.05F * level_, recent_deviation()});
  weight_ = kBelievedFrom;
  return Change::Restarted;
}

double ResponseLevel::weight(std::chrono::nanoseconds now, Millis forget_after) const noexcept {
  return weight_ * decay(now - last_at_, forget_after);
}

Millis ResponseLevel::scatter() const noexcept {
  return Millis(1.2533 * static_cast<double>(deviation_));
}

float ResponseLevel::recent_median() const noexcept {
  std::array<float, kRecent> sorted{};
  for (std::size_t i = 0; i < recent_count_; ++i) {
    std::size_t at = i;
    for (; at > 0 && sorted[at - 1] > recent_[i]; --at)
      sorted[at] = sorted[at - 1];
    sorted[at] = recent_[i];
  }
  const std::size_t middle = recent_count_ / 2U;
  return recent_count_ % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

float ResponseLevel::recent_deviation() const noexcept {
  float sum = 0;
  for (std::size_t i = 0; i < recent_count_; ++i)
    sum += std::min(std::abs(recent_[i] - level_), level_);
  return sum / static_cast<float>(recent_count_);
}

}  // namespace sluice::placement
