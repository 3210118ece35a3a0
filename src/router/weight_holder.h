#pragma once

#include <cstdint>
#include <optional>

#include "sluice/policy/weight_controller.h"

#include "config/config.h"
#include "router/admission.h"
#include "telemetry/reading.h"

namespace sluice::router {

// Holds the weight of the highest class to weight_target, by what all threads have measured: the shell of
// policy::WeightController. On the control thread.
class WeightHolder {
 public:
  // After each Admission::reconfigure(), which brings the weights of the configuration: the one that was
  // found stays as long as target and limit do.
  void configure(const config::Config& config, Admission& admission);
  bool holds() const noexcept { return controller_.has_value(); }
  // Every few seconds.
  void look(const telemetry::Reading& reading, Admission& admission);

 private:
  // Counted since the start.
  struct Seen {
    telemetry::HistogramReading highest, lowest;
    std::int64_t ended = 0;
  };
  static Seen seen(const telemetry::Reading& reading, const policy::Snapshot& table);

  std::optional<policy::WeightController> controller_;
  std::string configured_;    // target and limit, as text
  std::optional<Seen> used_;  // when evidence was used last
};

}  // namespace sluice::router
