#pragma once

#include <memory>
#include <vector>

#include "cluster/monitor.h"
#include "config/config.h"
#include "router/admission.h"
#include "router/snapshot.h"
#include "telemetry/log.h"

// What the parts of the router take from a configuration, each in its own terms.
namespace sluice::router {

SessionLimits session_limits(std::shared_ptr<const config::Config> config);
cluster::MonitorSettings monitor_settings(const config::Options& options);
std::vector<cluster::MonitoredServer> monitored_servers(const Snapshot& snapshot);

}  // namespace sluice::router
