#include "sim/held_weight.h"

#include <algorithm>

#include "sluice/stats/quantile.h"

namespace sluice::sim {

HeldWeight::HeldWeight(const WeightHold& hold, double initial_weight)
    : hold_(hold), controller_(hold.settings, initial_weight), next_look_(hold.period) {}

void HeldWeight::answered(Whose whose, double response) {
  (whose == Whose::Highest ? highest_ : lowest_).push_back(response);
}

double HeldWeight::value_of(std::vector<double>& responses) const {
  if (responses.empty()) return 0;
  std::sort(responses.begin(), responses.end());
  return stats::quantile_sorted(
      responses, hold_.settings.target.value == policy::WeightTarget::Value::Median ? 0.5 : 0.95);
}

bool HeldWeight::look(std::size_t open_sessions) {
  const double now = next_look_;
  next_look_ += hold_.period;
  const double before = controller_.weight();
  const policy::WeightEvidence evidence{
      value_of(highest_), value_of(lowest_), highest_.size(), lowest_.size(),
      static_cast<double>(ended_) / static_cast<double>(std::max<std::size_t>(open_sessions, 1))};
  if (!controller_.update(evidence)) return false;
  highest_.clear();
  lowest_.clear();
  ended_ = 0;
  steps_.push_back({now, controller_.weight(), controller_.last_ratio()});
  return controller_.weight() != before;
}

}  // namespace sluice::sim
