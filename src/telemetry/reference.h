#pragma once

#include <string>

namespace sluice::telemetry {

// docs/reference/metrics.md, from metric_table().
std::string metrics_reference();

}  // namespace sluice::telemetry
