#pragma once

#include <vector>

#include "sluice/policy/decision.h"

#include "telemetry/metrics.h"

namespace sluice::router {

// Counts the role changes that a decision for `borrower` made.
void count_changes(telemetry::ThreadMetrics& metrics, const std::vector<policy::RoleChange>& changes,
                   policy::ClassId borrower);

}  // namespace sluice::router
