#include "router/derive.h"

#include <utility>

#include "config/match.h"
#include "router/server_directory.h"

namespace sluice::router {

SessionLimits session_limits(std::shared_ptr<const config::Config> config) {
  const config::Options& options = config->options;
  SessionLimits limits;
  limits.total = options.max_client_conn;
  limits.per_user = options.max_user_client_connections;
  limits.per_database = [config](std::string_view name) -> std::size_t {
    const config::Database* database = config::find_database(*config, name);
    return database != nullptr && database->max_sessions > 0 ? database->max_sessions
                                                             : config->options.max_db_client_connections;
  };
  for (const config::PriorityClass& c : config->classes)
    if (c.max_sessions > 0) limits.per_class.emplace(c.name, c.max_sessions);
  return limits;
}

cluster::MonitorSettings monitor_settings(const config::Options& options) {
  cluster::MonitorSettings settings;
  settings.health.rise = static_cast<int>(options.health_check_rise);
  settings.health.fall = static_cast<int>(options.health_check_fall);
  if (options.max_replica_lag.count() > 0) settings.health.lag_max = options.max_replica_lag;
  if (options.max_replica_lag_bytes > 0) settings.health.lag_bytes_max = options.max_replica_lag_bytes;
  settings.interval = options.health_check_interval;
  settings.timeout = options.health_check_timeout;
  return settings;
}

std::vector<cluster::MonitoredServer> monitored_servers(const Snapshot& snapshot) {
  std::vector<cluster::MonitoredServer> servers;
  for (const auto& [id, server] : snapshot.servers)
    servers.push_back({server.name,
                       id == kPrimary ? cluster::ServerRole::Primary : cluster::ServerRole::Replica,
                       control_connection(snapshot, server, snapshot.options().health_check_user,
                                          snapshot.config->passwords.health_check_user,
                                          snapshot.options().health_check_database)});
  return servers;
}

}  // namespace sluice::router
