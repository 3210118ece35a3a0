#include "sluice/policy/weight_controller.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "sluice/stats/portable_math.h"

#include "base/assert.h"
#include "base/text.h"

namespace sluice::policy {
namespace {

constexpr double kGoalMax = 1e6;

std::string shortest(double number) {
  std::array<char, 32> text{};
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() ? std::string(text.data(), end) : std::string();
}

}  // namespace

std::optional<WeightTarget> WeightTarget::parse(std::string_view text) {
  WeightTarget target;
  const std::size_t colon = text.find(':');
  if (colon == text.npos) return std::nullopt;
  const std::string_view value = text.substr(0, colon);
  if (value != "median" && value != "p95") return std::nullopt;
  target.value = value == "median" ? Value::Median : Value::P95;
  std::string_view goal = text.substr(colon + 1);
  double unit = 1;
  if (goal.ends_with("ms")) {
    unit = 1e-3;
    goal.remove_suffix(2);
  } else if (goal.ends_with('s')) {
    goal.remove_suffix(1);
  } else {
    unit = 0;
  }
  const std::optional<double> number = to_number<double>(goal);
  if (!number || !(*number > 0 && *number <= kGoalMax)) return std::nullopt;
  target.of = unit > 0 ? Of::Seconds : Of::Lowest;
  target.goal = unit > 0 ? *number * unit : *number;
  return target;
}

std::string WeightTarget::to_string() const {
  return (value == Value::Median ? "median:" : "p95:") + shortest(goal) + (of == Of::Seconds ? "s" : "");
}

WeightController::WeightController(const Settings& settings, double initial_weight) : settings_(settings) {
  SLUICE_ASSERT(settings.weight_min > 0 && settings.weight_min <= settings.weight_max);
  SLUICE_ASSERT(settings.target.goal > 0 && initial_weight > 0);
  log_weight_ = stats::portable::log(std::clamp(initial_weight, settings.weight_min, settings.weight_max));
}

std::optional<double> WeightController::update(const WeightEvidence& seen) noexcept {
  const bool relative = settings_.target.of == WeightTarget::Of::Lowest;
  if (seen.highest_samples < settings_.samples_min || !(seen.turnover >= settings_.turnover_min))
    return std::nullopt;
  if (relative && seen.lowest_samples < settings_.samples_min) return std::nullopt;
  const double measured = relative ? seen.highest / seen.lowest : seen.highest;
  if (!(measured > 0) || !std::isfinite(measured)) return std::nullopt;
  last_ratio_ = measured / settings_.target.goal;
  const double error = stats::portable::log(last_ratio_);
  if (std::fabs(error) > settings_.dead_band) {
    const double step =
        settings_.gain * std::min(seen.turnover, 1.0) * std::clamp(error, -kErrorMax, kErrorMax);
    log_weight_ = std::clamp(log_weight_ + step, stats::portable::log(settings_.weight_min),
                             stats::portable::log(settings_.weight_max));
  }
  return weight();
}

double WeightController::weight() const noexcept {
  return std::clamp(stats::portable::exp(log_weight_), settings_.weight_min, settings_.weight_max);
}

}  // namespace sluice::policy
