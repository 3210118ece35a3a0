#include "router/derive.h"

#include <algorithm>
#include <utility>

#include "config/match.h"
#include "router/server_directory.h"

namespace sluice::router {
namespace {

constexpr std::int64_t kThousandths = 1000;

}  // namespace

AdmissionLimits admission_limits(std::shared_ptr<const config::Config> config) {
  const config::Options& options = config->options;
  AdmissionLimits limits;
  limits.total = options.max_client_conn;
  limits.per_user = options.max_user_client_connections;
  limits.per_database = [config](std::string_view name) -> std::size_t {
    const config::Database* database = config::find_database(*config, name);
    return database != nullptr && database->max_sessions > 0 ? database->max_sessions
                                                             : config->options.max_db_client_connections;
  };
  limits.per_host = options.max_host_client_connections;
  for (const config::OriginHost& host : config->hosts) {
    if (host.max_sessions > 0) limits.of_host.emplace(host.name, host.max_sessions);
    if (host.max_active > 0) limits.servers_of_host.emplace(host.name, host.max_active);
  }
  for (const config::PriorityClass& c : config->classes) {
    if (c.max_sessions > 0) limits.of_class.emplace(c.name, c.max_sessions);
    if (c.max_active > 0) limits.servers_of_class.emplace(c.name, c.max_active);
    if (c.max_waiting > 0) limits.waiting_of_class.emplace(c.name, c.max_waiting);
  }
  limits.servers_total = options.max_total_active;
  limits.servers_per_user = options.max_user_connections;
  limits.servers_per_database = [config](std::string_view name) -> std::size_t {
    const config::Database* database = config::find_database(*config, name);
    return database != nullptr && database->max_db_connections > 0 ? database->max_db_connections
                                                                   : config->options.max_db_connections;
  };
  if (config::has_primary(*config))
    limits.primary_active =
        config->primary && config->primary->max_active > 0 ? config->primary->max_active : options.max_active;
  limits.waiting = options.max_waiting;
  limits.ageing = options.queue_ageing;
  limits.discipline = options.queue_discipline;
  for (const config::Budget& budget : config->budgets)
    limits.budgets.push_back({budget.name, budget.mode, budget.active_share, budget.busy_share});
  limits.budget_window = options.budget_window;
  return limits;
}

cluster::MonitorSettings monitor_settings(const config::Options& options) {
  cluster::MonitorSettings settings;
  settings.health.rise = static_cast<int>(options.health_check_rise);
  settings.health.fall = static_cast<int>(options.health_check_fall);
  if (options.max_replica_lag.count() > 0) settings.health.lag_max = options.max_replica_lag;
  if (options.max_replica_lag_bytes > 0) settings.health.lag_bytes_max = options.max_replica_lag_bytes;
  settings.health.lag_resume_ratio =
      static_cast<double>(options.replica_lag_resume.floor_of(kThousandths)) / kThousandths;
  settings.interval = options.health_check_interval;
  settings.timeout = options.health_check_timeout;
  return settings;
}

std::vector<cluster::MonitoredServer> monitored_servers(const Snapshot& snapshot, const config::Config& file,
                                                        const Topology& topology) {
  std::vector<cluster::MonitoredServer> servers;
  const auto add = [&](const ServerEndpoint& server, cluster::ServerRole role) -> cluster::MonitoredServer& {
    cluster::MonitoredServer& added = servers.emplace_back();
    added.name = server.name;
    added.role = role;
    added.connect = control_connection(snapshot, server, snapshot.options().health_check_user,
                                       snapshot.config->passwords.health_check_user,
                                       snapshot.options().health_check_database);
    return added;
  };
  for (const auto& [id, server] : snapshot.servers) {
    if (id == kPrimary) continue;
    cluster::MonitoredServer& replica = add(server, cluster::ServerRole::Replica);
    const cluster::Member* const member = topology.member(server.name);
    if (member == nullptr) continue;
    replica.may_be_primary = true;
    replica.bar = member->bar();
    replica.lag_bytes = member->lag_bytes;
  }
  for (const config::Server& candidate : file.primary_candidates) {
    const auto same = std::find_if(servers.begin(), servers.end(),
                                   [&](const auto& server) { return server.name == candidate.name; });
    cluster::MonitoredServer& server =
        same != servers.end() ? *same : add(endpoint_of(file, candidate), cluster::ServerRole::Candidate);
    server.may_be_primary = true;
  }
  if (file.primary) add(endpoint_of(file, *file.primary), cluster::ServerRole::Primary);
  return servers;
}

bool is_unreachable(cluster::DownReason reason) {
  return reason == cluster::DownReason::ConnectFailed || reason == cluster::DownReason::ProbeTimeout;
}

protocol::ErrorFields server_is_gone() {
  return {"FATAL", "08006", "the server of this session does not answer any more", "",
          "Connect again; the router assigns another server."};
}

std::vector<std::string> primary_candidates(const std::vector<cluster::MonitoredServer>& servers) {
  std::vector<std::string> names;
  for (const cluster::MonitoredServer& server : servers)
    if (server.may_be_primary) names.push_back(server.name);
  return names;
}

}  // namespace sluice::router
