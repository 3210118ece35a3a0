#pragma once

#include <chrono>
#include <vector>

#include "sluice/policy/decision.h"

#include "config/config.h"
#include "router/admission.h"
#include "telemetry/metrics.h"

namespace sluice::router {

// Counts the role changes that a decision for `borrower` made.
void count_changes(telemetry::ThreadMetrics& metrics, const std::vector<policy::RoleChange>& changes,
                   policy::ClassId borrower);

// Counts by what a slot's replica was chosen, where replicas take intervals of sizes.
void count_size_use(telemetry::ThreadMetrics& metrics, const config::Options& options,
                    policy::ClassId priority, const Granted& slot);
// A session's or transaction's waiting time in the queue over its service time. Nothing without service.
void record_slowdown(telemetry::ThreadMetrics& metrics, policy::ClassId priority,
                     std::chrono::nanoseconds waited, std::chrono::nanoseconds service);

}  // namespace sluice::router
