#include "router/profile_contents.h"

#include <algorithm>

#include "router/profile_calibration.h"
#include "router/router.h"

namespace sluice::router {
namespace {

profile::Server server_of(const std::string& name, profile::ServerRole role,
                          const std::optional<cluster::ServerHealth>& health) {
  profile::Server server;
  server.name = name;
  server.role = role;
  if (!health) return server;
  server.up = health->status.up;
  // A check that does not log in measures a whole start-up, which is no SELECT 1.
  if (!health->in_recovery || !health->answered) return server;
  server.median = health->probe_times.median();
  server.minimum = health->probe_times.minimum();
  server.ewma = health->probe_times.ewma();
  server.samples = health->probes_ok;
  server.measured_at = *health->answered;
  return server;
}

void add_hosts(const Router& router, const config::Config& config, profile::Contents& contents) {
  const auto sessions = router.shared().admission.sessions_by_host();
  const ClientLegs::Legs legs = router.shared().client_legs.all();
  for (const config::OriginHost& entry : config.hosts) {
    profile::Host& host = contents.hosts.emplace_back();
    host.name = entry.name;
    if (const auto found = sessions.find(entry.name); found != sessions.end())
      host.sessions = static_cast<std::uint32_t>(found->second);
    const auto leg = legs.find(entry.name);
    if (leg == legs.end()) continue;
    host.client_leg = leg->second.estimate;
    host.client_leg_min = leg->second.minimum;
    host.client_leg_deviation = leg->second.deviation;
    host.samples = leg->second.samples;
    host.measured_at = leg->second.measured_at;
  }
}

// Share of each class's sessions that each server has. Configured replicas stand behind the primary, which is
// in no pool and has none, in the order of `pools`.
void fill_shares(const policy::Snapshot& pools, std::size_t first_replica, profile::Contents& contents) {
  std::vector<const policy::ReplicaSnapshot*> replicas;
  for (const policy::ReplicaSnapshot& replica : pools.replicas)
    if (replica.configured) replicas.push_back(&replica);
  for (std::size_t c = 0; c < pools.classes.size(); ++c) {
    double sum = 0;
    for (const auto* replica : replicas)
      sum += static_cast<double>(replica->loads[c]);
    if (sum == 0) continue;
    double* const row = contents.shares.data() + c * contents.servers.size() + first_replica;
    for (std::size_t r = 0; r < replicas.size(); ++r)
      row[r] = static_cast<double>(replicas[r]->loads[c]) / sum;
  }
}

}  // namespace

void fill_round_trips(profile::Contents& contents) {
  for (std::size_t h = 0; h < contents.hosts.size(); ++h)
    for (std::size_t s = 0; s < contents.servers.size(); ++s) {
      const profile::Host& host = contents.hosts[h];
      const profile::Server& server = contents.servers[s];
      if (host.samples == 0 || server.samples == 0) continue;
      profile::Rtt& rtt = contents.rtt[h * contents.servers.size() + s];
      rtt.estimate = host.client_leg + server.median;
      rtt.samples = std::min(host.samples, server.samples);
      rtt.source = profile::Rtt::Source::Measured;
      rtt.measured_at = std::min(host.measured_at, server.measured_at);
    }
}

profile::Contents profile_contents(const Router& router) {
  const SnapshotPtr snapshot = router.snapshot();
  const policy::Snapshot pools = router.shared().admission.snapshot();
  profile::Contents contents;
  add_hosts(router, *snapshot->config, contents);
  if (const auto primary = snapshot->servers.find(kPrimary); primary != snapshot->servers.end()) {
    const std::string& name = primary->second.name;
    contents.servers.push_back(server_of(name, profile::ServerRole::Primary, router.health(name)));
    contents.servers.back().up = router.primary_up();
  }
  const std::size_t first_replica = contents.servers.size();
  for (const policy::ReplicaSnapshot& replica : pools.replicas) {
    if (!replica.configured) continue;
    contents.servers.push_back(
        server_of(replica.name, profile::ServerRole::Replica, router.health(replica.name)));
    contents.servers.back().up = replica.up && !replica.draining;
  }
  for (const policy::ClassSnapshot& c : pools.classes)
    contents.classes.push_back(c.params.name);
  contents.routes = router.routes();
  fit_matrices(contents);
  fill_round_trips(contents);
  fill_shares(pools, first_replica, contents);
  if (const auto calibration = router.calibration())
    apply_calibration(contents, *calibration, std::chrono::steady_clock::now(),
                      std::chrono::system_clock::now());
  return contents;
}

profile::Profile live_profile(const Router& router) {
  profile::Profile profile;
  profile.contents = profile_contents(router);
  profile.publication = router.publication();
  return profile;
}

}  // namespace sluice::router
