#pragma once

#include <memory>
#include <vector>

#include "cluster/monitor.h"
#include "config/config.h"
#include "protocol/error_response.h"
#include "router/admission.h"
#include "router/snapshot.h"
#include "router/topology.h"
#include "telemetry/log.h"

// What the parts of the router take from a configuration, each in its own terms.
namespace sluice::router {

AdmissionLimits admission_limits(std::shared_ptr<const config::Config> config);
cluster::MonitorSettings monitor_settings(const config::Options& options);
// Every server that is probed: the replicas and primary of `snapshot`, which is made of `file` and
// `topology`, and those that may be the primary. Names are unique but for a primary that the file names as a
// replica too.
std::vector<cluster::MonitoredServer> monitored_servers(const Snapshot& snapshot, const config::Config& file,
                                                        const Topology& topology);
// The server itself does not answer, rather than answering what does not suit us.
bool is_unreachable(cluster::DownReason reason);
// What a session is told whose server is so.
protocol::ErrorFields server_is_gone();

// Those among them whose word decides who the primary is.
std::vector<std::string> primary_candidates(const std::vector<cluster::MonitoredServer>& servers);

}  // namespace sluice::router
