#pragma once

#include <memory>
#include <string>
#include <vector>

#include "config/placer_config.h"
#include "http/head.h"
#include "net/tls_context.h"
#include "placer/forward_head.h"
#include "placer/snapshot.h"
#include "telemetry/log.h"

// What a snapshot is made of, from the configuration.
namespace sluice::placer {

// Null without listen_tls_port, and where certificate or key cannot be used: `problem` then says why.
std::shared_ptr<const net::TlsContext> make_tls(const config::PlacerOptions& options, std::string& problem);
RouteTable make_table(const config::PlacerConfig& config);
ForwardPolicy forward_policy(const config::PlacerOptions& options);
http::HeadLimits response_limits(const config::PlacerOptions& options);

// Hosts of the earlier snapshot (null: none) go on where name and address are the same.
std::vector<HostPtr> make_hosts(const config::PlacerConfig& config, const Snapshot* before);
// Null unless the policy is adaptive. What the earlier one has learnt goes on where hosts, routes and
// settings are the same.
std::shared_ptr<Learner> make_learner(const config::PlacerConfig& config, const std::vector<HostPtr>& hosts,
                                      const Snapshot* before);

}  // namespace sluice::placer
