#pragma once

#include <vector>

#include "sim/recorded_trace.h"

namespace sluice::sim {

// The cores that replicas are taken to have, and what each recorded query then asked of them, core-seconds:
// by guest, in its order.
struct Demands {
  double cores = 1;
  std::vector<std::vector<double>> of;
};

// What a query must have asked for to take as long as it did beside those that ran at the same time on its
// replica, which shared the cores evenly, none using more than one. So a simulation under the recorded
// assignment gives the recorded response times.
// Method: each replica's attained service grows at min(1, cores / active); a demand is its growth from the
//         query's start to its end. O(n log n).
// Shape:  no demand is below kDemandMin. Of guests whose replica is not known, and with cores = infinity, the
//         response time itself.
inline constexpr double kDemandMin = 1e-9;
Demands demands(const RecordedTrace&, double cores);

// The number of cores for which demands have least to do with the company that the queries had: what is asked
// for does not depend on who else asks. From 0.5 to 256; infinity where response times have nothing to do
// with company in the first place, and where there is never company to speak of.
double estimate_cores(const RecordedTrace&);

}  // namespace sluice::sim
