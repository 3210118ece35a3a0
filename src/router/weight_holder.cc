#include "router/weight_holder.h"

#include <algorithm>

#include "telemetry/log.h"

namespace sluice::router {
namespace {

double in_seconds(const std::optional<std::chrono::nanoseconds>& time) {
  return time ? std::chrono::duration<double>(*time).count() : 0;
}

}  // namespace

void WeightHolder::configure(const config::Config& config, Admission& admission) {
  const config::Options& options = config.options;
  const auto target = policy::WeightTarget::parse(options.weight_target);
  if (options.policy != config::PolicyName::Proportional || !target) {
    controller_.reset();
    configured_.clear();
    return;
  }
  std::string wanted = target->to_string() + " up to " + options.weight_limit.to_string();
  if (!controller_ || wanted != configured_) {
    policy::WeightController::Settings settings;
    settings.target = *target;
    settings.weight_min = std::min(1.0, options.weight_limit.value());
    settings.weight_max = options.weight_limit.value();
    controller_.emplace(settings, config.classes.front().weight.value());
    configured_ = std::move(wanted);
    used_.reset();
  }
  if (const auto highest = admission.find_class(config.classes.front().name))
    admission.set_class_weight(*highest, Weight::nearest(controller_->weight()));
}

WeightHolder::Seen WeightHolder::seen(const telemetry::Reading& reading, const policy::Snapshot& table) {
  Seen now;
  now.highest = reading.response_of(table.classes.front().id);
  now.lowest = reading.response_of(table.classes.back().id);
  for (const policy::ClassSnapshot& c : table.classes) {
    for (const policy::Outcome outcome : policy::kOutcomes)
      if (outcome != policy::Outcome::Refused)
        now.ended += static_cast<std::int64_t>(c.decisions[static_cast<std::size_t>(outcome)]);
    now.ended -= c.sessions;
  }
  return now;
}

void WeightHolder::look(const telemetry::Reading& reading, Admission& admission) {
  if (!controller_) return;
  const policy::Snapshot table = admission.snapshot();
  const Seen now = seen(reading, table);
  if (!used_) {
    used_ = now;
    return;
  }
  telemetry::HistogramReading highest = now.highest, lowest = now.lowest;
  highest -= used_->highest;
  lowest -= used_->lowest;
  std::int64_t open = 0;
  for (const policy::ClassSnapshot& c : table.classes)
    open += c.sessions;
  const double quantile =
      controller_->settings().target.value == policy::WeightTarget::Value::Median ? 0.5 : 0.95;
  const policy::WeightEvidence evidence{
      in_seconds(highest.quantile(quantile)), in_seconds(lowest.quantile(quantile)), highest.count(),
      lowest.count(),
      static_cast<double>(std::max<std::int64_t>(0, now.ended - used_->ended)) /
          static_cast<double>(std::max<std::int64_t>(1, open))};
  const Weight before = Weight::nearest(controller_->weight());
  if (!controller_->update(evidence)) return;
  used_ = now;
  const Weight after = Weight::nearest(controller_->weight());
  if (after == before) return;
  admission.set_class_weight(table.classes.front().id, after);
  log::debug("weight changed", {{"class", table.classes.front().params.name},
                                {"weight", after.to_string()},
                                {"target", controller_->settings().target.to_string()},
                                {"measured_over_target", controller_->last_ratio()}});
}

}  // namespace sluice::router
