#pragma once

#include <vector>

#include <prometheus/metric_family.h>

#include "telemetry/reading.h"
#include "telemetry/registry.h"

namespace sluice::telemetry {

// The families of metric_table() that `component` exports, in its order, names prefixed with "sluice_".
// Series of two labels and of histograms appear once they are not 0, so that classes x pools of which most
// never meet cost nothing; a family without series is left out. A Sampled value for an unknown label is
// skipped.
std::vector<prometheus::MetricFamily> to_families(const Reading& reading, const Samples& samples,
                                                  Component component);

}  // namespace sluice::telemetry
