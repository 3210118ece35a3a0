#pragma once

#include <chrono>
#include <deque>
#include <vector>

#include "sluice/policy/ids.h"

#include "telemetry/reading.h"

namespace sluice::router {

// Response and waiting times of the last minute, per class: totals as of now less totals as of then. Pure.
// Shape:  as many totals as kSpan holds of kStep, and one more. The first minute has what there was since the
// first add().
class PastMinute {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  static constexpr std::chrono::seconds kSpan{60};
  static constexpr std::chrono::seconds kStep{5};

  struct OfClass {
    telemetry::HistogramReading response, wait;
  };

  // As often as one likes, `now` never going back.
  void add(TimePoint now, const telemetry::Reading& reading);
  OfClass of(policy::ClassId id) const;

 private:
  struct Totals {
    TimePoint at;
    std::vector<OfClass> classes;  // by ClassId
  };
  std::deque<Totals> past_;  // oldest first, kStep or more between them
  std::vector<OfClass> now_;
};

}  // namespace sluice::router
