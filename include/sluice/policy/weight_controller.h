#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sluice::policy {

// What the weight of the highest class is to hold, under PolicyKind::Proportional.
struct WeightTarget {
  enum class Value { Median, P95 };
  enum class Of {
    Lowest,   // `goal` times that of the lowest class
    Seconds,  // `goal` seconds
  };
  Value value = Value::Median;
  Of of = Of::Lowest;
  double goal = 0.8;

  // Reads "median:0.8", "p95:0.5", "median:4s" or "p95:250ms"; nullopt for anything else, and for a goal that
  // is not above 0 and at most 1,000,000.
  static std::optional<WeightTarget> parse(std::string_view text);
  // As parse() reads it, a time in seconds.
  std::string to_string() const;
};

// What was seen since the evidence that was last used.
struct WeightEvidence {
  double highest = 0, lowest = 0;  // response times of the two classes, seconds, by WeightTarget::Value
  std::uint64_t highest_samples = 0, lowest_samples = 0;
  double turnover = 0;  // sessions that have ended over those that are open: 1 is once all of them
};

// Finds the weight that holds a target, slowly.
//
// Rule:    x = ln w moves by gain * min(turnover, 1) * clamp(ln(measured / goal), +-kErrorMax), where
// measured is
//          the highest class's response time, over the lowest's with Of::Lowest; within the dead band not at
//          all. Bounds hold on x itself, so nothing winds up behind them.
// Stable:  sessions stay where they are, so that a new weight acts as they come and go: response times follow
// it
//          with a lag of one turnover. Where replicas are busy the ratio of response times goes as 1 / w, and
//          ln of it as -x, less where they are idle. In units of turnover that is an integrator of gain g
//          before a lag of 1 and, for the window, about half of one of delay: for g = 1/4 the closed loop is
//          critically damped without the delay and has a phase margin of 69 degrees with it, of 30 where
//          response times are four times as steep. As steps are taken by turnover and not by the clock, it
//          holds for sessions of seconds and of hours alike.
// Idle:    a target that no weight reaches drives w to a bound: a relative one to weight_max where response
// times do
//          not depend on company, an absolute one to weight_min where all is quick anyway.
// Source:  ours; integral control with a first-order lag is in any book.
// Pure: no clock. Deterministic. O(1).
class WeightController {
 public:
  static constexpr double kErrorMax = 0.7;  // ln 2: a step never more than doubles for being farther off

  struct Settings {
    WeightTarget target;
    double weight_min = 1, weight_max = 16;  // 0 < min <= max
    double gain = 0.25;
    double dead_band = 0.02;         // of ln(measured / goal)
    std::uint64_t samples_min = 50;  // of each class that is looked at
    double turnover_min = 0.1;
  };
  WeightController(const Settings&, double initial_weight);

  // The new weight; nullopt when there is not enough evidence yet: then go on collecting, and come back with
  // all of it. A value that is not above 0 is no evidence either.
  std::optional<double> update(const WeightEvidence&) noexcept;
  double weight() const noexcept;
  const Settings& settings() const noexcept { return settings_; }
  // How far the last evidence was from the goal: measured / goal; 1 before any.
  double last_ratio() const noexcept { return last_ratio_; }

 private:
  Settings settings_;
  double log_weight_;
  double last_ratio_ = 1;
};

}  // namespace sluice::policy
