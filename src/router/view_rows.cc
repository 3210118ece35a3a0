#include "router/view_rows.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <utility>

#include <unistd.h>

#include "config/match.h"
#include "config/print.h"
#include "profile/json.h"
#include "router/cluster_rows.h"
#include "router/profile_contents.h"
#include "router/router.h"
#include "router/stats_period.h"

namespace sluice::router {
namespace {

using admin::Part;

bool has(Part part, Part one) {
  return part == one;
}

std::chrono::milliseconds age_of(std::chrono::steady_clock::time_point then) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - then);
}

void fill_health(admin::ReplicaRow& row, const std::optional<cluster::ServerHealth>& health) {
  if (!health) return;
  row.in_recovery = health->in_recovery;
  row.lag = health->lag;
  if (health->timeline) row.timeline = static_cast<std::int64_t>(*health->timeline);
  if (health->lag_bytes) row.lag_bytes = static_cast<std::int64_t>(*health->lag_bytes);
  if (health->probe_times.count() > 0) {
    row.probe_last = to_micros(health->probe_times.last());
    row.probe_median = to_micros(health->probe_times.median());
  }
  if (health->answered) row.age = age_of(*health->answered);
  row.probe_failures = health->failures_in_row;
  if (!health->status.up) row.last_error = cluster::down_reason_text(health->status.reason);
}

// The policy does not count these: no decision is taken for them.
void fill_primary_sessions(admin::ReplicaRow& row, const policy::Snapshot& pools,
                           const telemetry::Reading& reading) {
  const auto sessions_of = [&](policy::ClassId id) {
    return reading.value(telemetry::metric::sessions, id, telemetry::ServerLabel::primary());
  };
  for (std::uint32_t i = 0; i < reading.names().classes.size(); ++i)
    row.sessions += sessions_of(policy::ClassId(i));
  for (const policy::ClassSnapshot& c : pools.classes)
    row.loads.emplace_back(c.params.name, sessions_of(c.id));
}

std::vector<admin::PoolRow> pool_rows(const ConnectionRows& connections,
                                      const std::vector<ServerPool::IdleInfo>& idle) {
  std::map<std::pair<std::string, std::string>, admin::PoolRow> pools;
  const auto pool_of = [&](const std::string& database, const std::string& user) -> admin::PoolRow& {
    admin::PoolRow& row = pools[{database, user}];
    row.database = database;
    row.user = user;
    return row;
  };
  for (const admin::ConnectionRow& client : connections.clients) {
    admin::PoolRow& row = pool_of(client.database, client.user);
    if (client.state == "waiting") {
      ++row.cl_waiting;
      row.maxwait = std::max(row.maxwait, client.wait);
    } else {
      ++row.cl_active;
    }
    row.pool_mode = client.pool_mode;
  }
  for (const admin::ConnectionRow& server : connections.servers)
    ++pool_of(server.database, server.user).sv_active;
  for (const ServerPool::IdleInfo& i : idle)
    ++pool_of(i.database, i.user).sv_idle;
  std::vector<admin::PoolRow> rows;
  for (auto& [key, row] : pools)
    rows.push_back(std::move(row));
  return rows;
}

std::vector<admin::ConnectionRow> idle_rows(const Snapshot& snapshot,
                                            const std::vector<ServerPool::IdleInfo>& idle) {
  std::vector<admin::ConnectionRow> rows;
  for (const ServerPool::IdleInfo& i : idle) {
    admin::ConnectionRow row;
    row.id = (std::uint64_t{1} << 63) | static_cast<std::uint32_t>(i.process_id);
    row.user = i.user;
    row.database = i.database;
    row.state = "idle";
    row.replica = snapshot.server_name(i.server);
    if (const auto server = snapshot.servers.find(i.server); server != snapshot.servers.end()) {
      row.addr = server->second.target.host;
      row.port = server->second.target.port;
    }
    row.remote_pid = i.process_id;
    const auto age = std::chrono::steady_clock::now() - i.opened_at;
    row.connect_time = std::chrono::system_clock::now() - to_micros(age);
    row.request_time = row.connect_time;
    row.fd = i.fd;
    rows.push_back(std::move(row));
  }
  return rows;
}

void fill_calls(admin::HostRow& row, const telemetry::Reading& reading) {
  namespace metric = telemetry::metric;
  const auto& names = reading.names();
  const auto found = std::find(names.hosts.begin(), names.hosts.end(), row.name);
  if (found == names.hosts.end()) return;
  const telemetry::HostLabel host(static_cast<std::uint32_t>(found - names.hosts.begin()));
  const telemetry::HistogramReading response = reading.histogram(metric::host_response_seconds, host);
  row.calls = static_cast<std::int64_t>(response.count());
  row.errors = static_cast<std::int64_t>(reading.value(metric::host_errors_total, host));
  row.response = quantiles_of(response);
}

std::vector<admin::BudgetRow> budget_rows(Router& router) {
  std::vector<admin::BudgetRow> rows;
  for (const policy::BudgetState& budget : router.shared().admission.budgets()) {
    admin::BudgetRow& row = rows.emplace_back();
    row.name = budget.params.name;
    row.mode = config::word_of(budget.params.mode);
    row.active_share = budget.params.active_share.to_string();
    row.busy_share = budget.params.busy_share.to_string();
    row.active = budget.active;
    row.waiting = budget.waiting;
    row.busy = budget.busy;
    row.refused = static_cast<std::int64_t>(budget.refused);
    row.would_be_refused = static_cast<std::int64_t>(budget.would_be_refused);
  }
  return rows;
}

std::vector<admin::HostRow> host_rows(Router& router) {
  const SnapshotPtr snapshot = router.snapshot();
  const auto sessions = router.shared().admission.sessions_by_host();
  const ClientLegs::Legs legs = router.shared().client_legs.all();
  const telemetry::Reading reading = router.telemetry().read();
  std::vector<admin::HostRow> rows;
  for (const config::OriginHost& host : snapshot->config->hosts) {
    admin::HostRow row;
    row.name = host.name;
    for (const config::Network& network : host.networks)
      row.networks += (row.networks.empty() ? "" : ",") + config::to_string(network);
    const auto found = sessions.find(host.name);
    row.sessions = found == sessions.end() ? 0 : static_cast<std::int64_t>(found->second);
    if (const auto leg = legs.find(host.name); leg != legs.end()) {
      row.rtt = to_micros(leg->second.estimate);
      row.rtt_min = to_micros(leg->second.minimum);
      row.rtt_deviation = to_micros(leg->second.deviation);
      row.rtt_samples = static_cast<std::int64_t>(leg->second.samples);
      row.age = age_of(leg->second.measured_at);
    }
    fill_calls(row, reading);
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<admin::RttRow> rtt_rows(const Router& router) {
  const profile::Contents contents = profile_contents(router);
  std::vector<admin::RttRow> rows;
  for (std::size_t h = 0; h < contents.hosts.size(); ++h)
    for (std::size_t s = 0; s < contents.servers.size(); ++s) {
      const profile::Host& host = contents.hosts[h];
      const profile::Server& server = contents.servers[s];
      const profile::Rtt& rtt = contents.rtt[h * contents.servers.size() + s];
      admin::RttRow& row = rows.emplace_back();
      row.host = host.name;
      row.server = server.name;
      if (host.samples > 0) row.client_leg = to_micros(host.client_leg);
      if (server.samples > 0) row.server_leg = to_micros(server.median);
      if (rtt.source == profile::Rtt::Source::None) continue;
      row.rtt = to_micros(rtt.estimate);
      row.source = rtt.source == profile::Rtt::Source::Measured ? "measured" : "calibrated";
      row.age = age_of(rtt.measured_at);
      row.samples = static_cast<std::int64_t>(rtt.samples);
    }
  return rows;
}

admin::ListsRow lists_row(Router& router, const ConnectionRows& connections, std::size_t pool_count) {
  const SnapshotPtr snapshot = router.snapshot();
  const policy::Snapshot pools = router.shared().admission.snapshot();
  admin::ListsRow row;
  row.databases = static_cast<std::int64_t>(snapshot->config->databases.size());
  row.users = static_cast<std::int64_t>(snapshot->config->users.size());
  row.pools = static_cast<std::int64_t>(pool_count);
  row.used_clients = static_cast<std::int64_t>(connections.clients.size());
  row.login_clients = static_cast<std::int64_t>(connections.logging_in);
  row.free_servers = static_cast<std::int64_t>(router.shared().pool.size());
  row.used_servers = static_cast<std::int64_t>(connections.servers.size());
  row.replicas = static_cast<std::int64_t>(snapshot->config->replicas.size());
  row.replicas_up = std::count_if(pools.replicas.begin(), pools.replicas.end(),
                                  [](const auto& r) { return r.up && r.configured; });
  row.classes = static_cast<std::int64_t>(pools.classes.size());
  row.hosts = static_cast<std::int64_t>(snapshot->config->hosts.size());
  row.names = static_cast<std::int64_t>(router.cluster_facts().names.size());
  return row;
}

std::vector<admin::DatabaseRow> database_rows(Router& router, const ConnectionRows& connections) {
  const SnapshotPtr snapshot = router.snapshot();
  std::vector<admin::DatabaseRow> rows;
  for (const config::Database& database : snapshot->config->databases) {
    admin::DatabaseRow row;
    row.name = database.name;
    const bool primary = database.target == config::Target::Primary;
    row.target = primary ? "primary" : "replicas";
    if (const auto server = snapshot->servers.find(kPrimary); primary && server != snapshot->servers.end()) {
      row.host = server->second.target.host;
      row.port = server->second.target.port;
    }
    const bool general = database.pool_mode == config::PoolModeOf::Inherited;
    row.pool_mode =
        general ? config::word_of(snapshot->options().pool_mode) : config::word_of(database.pool_mode);
    row.database = database.server_database.empty() ? database.name : database.server_database;
    const DatabaseGates& gates = router.shared().gates;
    row.paused = gates.paused(database.name);
    row.disabled = gates.disabled(database.name);
    row.max_connections = database.max_db_connections > 0 ? database.max_db_connections
                                                          : snapshot->options().max_db_connections;
    row.max_client_connections =
        database.max_sessions > 0 ? database.max_sessions : snapshot->options().max_db_client_connections;
    const auto mine = [&](const admin::ConnectionRow& c) {
      return config::find_database(*snapshot->config, c.database) == &database;
    };
    row.current_client_connections =
        std::count_if(connections.clients.begin(), connections.clients.end(), mine);
    row.current_connections = std::count_if(connections.servers.begin(), connections.servers.end(), mine);
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<admin::UserRow> user_rows(Router& router, const ConnectionRows& connections) {
  std::map<std::string, admin::UserRow> users;
  const SnapshotPtr snapshot = router.snapshot();
  for (const config::UserEntry& user : snapshot->config->users)
    users[user.name];
  for (const auto& client : connections.clients)
    ++users[client.user].current_client_connections;
  for (const auto& server : connections.servers)
    ++users[server.user].current_connections;
  std::vector<admin::UserRow> rows;
  for (auto& [name, row] : users) {
    row.name = name;
    row.max_connections = snapshot->options().max_user_connections;
    row.max_client_connections = snapshot->options().max_user_client_connections;
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<admin::ConfigRow> config_rows(Router& router) {
  std::vector<admin::ConfigRow> rows;
  for (config::ShownOption& row : config::show_config(*router.snapshot()->config))
    rows.push_back({std::move(row.key), std::move(row.value), std::move(row.fallback), row.changeable});
  return rows;
}

std::vector<admin::StatsRow> stats_rows(Router& router) {
  std::vector<admin::StatsRow> rows = total_rows(router.telemetry());
  router.fill_averages(rows);
  return rows;
}

// Pages that the process has in memory: statm's second number.
std::int64_t resident_pages() {
  std::ifstream statm("/proc/self/statm");
  std::int64_t size = 0, resident = 0;
  statm >> size >> resident;
  return statm ? resident : 0;
}

std::vector<admin::MemoryRow> memory_rows(Router& router, const ConnectionRows& connections) {
  const auto count = [](std::size_t n) { return static_cast<std::int64_t>(n); };
  const auto buffer_bytes = router.shared().workers.front()->buffers().buffer_bytes();
  return {{"buffers", count(buffer_bytes), count(connections.buffers_lent), count(connections.buffers_free)},
          {"sessions", sizeof(Session), count(connections.sessions), 0},
          {"idle_servers", sizeof(ServerPool::Idle), count(router.shared().pool.size()), 0},
          {"process_pages", sysconf(_SC_PAGESIZE), resident_pages(), 0}};
}

}  // namespace

std::vector<admin::ReplicaRow> replica_rows(Router& router, const ConnectionRows& connections,
                                            const std::vector<ServerPool::IdleInfo>& idle,
                                            const telemetry::Reading& reading) {
  const SnapshotPtr snapshot = router.snapshot();
  const policy::Snapshot pools = router.shared().admission.snapshot();
  const ClusterFacts facts = router.cluster_facts();
  std::vector<admin::ReplicaRow> rows;
  const auto common = [&](ServerId id, const std::string& name) {
    admin::ReplicaRow row;
    row.name = name;
    if (const auto server = snapshot->servers.find(id); server != snapshot->servers.end()) {
      row.host = server->second.target.host;
      row.port = server->second.target.port;
    }
    row.servers_active = std::count_if(connections.servers.begin(), connections.servers.end(),
                                       [&](const auto& s) { return s.replica == name; });
    row.servers_idle = std::count_if(idle.begin(), idle.end(), [&](const auto& i) { return i.server == id; });
    fill_health(row, router.health(name));
    fill_member(row, *snapshot, facts);
    return row;
  };
  for (const policy::ReplicaSnapshot& replica : pools.replicas) {
    admin::ReplicaRow row = common(ServerId(replica.id.value()), replica.name);
    row.role = "replica";
    row.pool = replica.pool_name;
    row.borrowed = replica.borrowed;
    row.up = replica.up && replica.configured;
    row.draining = replica.draining || !replica.configured;
    row.sessions = replica.total_load;
    for (std::size_t c = 0; c < pools.classes.size(); ++c)
      row.loads.emplace_back(pools.classes[c].params.name, replica.loads[c]);
    rows.push_back(std::move(row));
  }
  if (const auto primary = snapshot->servers.find(kPrimary); primary != snapshot->servers.end()) {
    admin::ReplicaRow row = common(kPrimary, primary->second.name);
    row.role = "primary";
    row.up = router.primary_up() || !router.health(row.name);
    if (row.up) row.last_error.clear();
    fill_primary_sessions(row, pools, reading);
    rows.push_back(std::move(row));
  }
  return rows;
}

void ConnectionRows::append(ConnectionRows more) {
  std::move(more.clients.begin(), more.clients.end(), std::back_inserter(clients));
  std::move(more.servers.begin(), more.servers.end(), std::back_inserter(servers));
  std::move(more.idle.begin(), more.idle.end(), std::back_inserter(idle));
  std::move(more.listeners.begin(), more.listeners.end(), std::back_inserter(listeners));
  logging_in += more.logging_in;
  sessions += more.sessions;
  buffers_lent += more.buffers_lent;
  buffers_free += more.buffers_free;
}

bool needs_connections(Part part) {
  return has(part, Part::Clients) || has(part, Part::Servers) || has(part, Part::Pools) ||
         has(part, Part::Lists) || has(part, Part::Databases) || has(part, Part::Users) ||
         has(part, Part::Replicas) || has(part, Part::Sockets) || has(part, Part::Memory) ||
         has(part, Part::Listeners);
}

ConnectionRows connection_rows(Worker& worker, admin::WallTime now) {
  ConnectionRows rows;
  rows.sessions = worker.sessions().size();
  rows.buffers_lent = worker.buffers().lent();
  rows.buffers_free = worker.buffers().free();
  for (const auto& [id, session] : worker.sessions()) {
    if (!session->logged_in()) {
      ++rows.logging_in;
      continue;
    }
    rows.clients.push_back(session->client_row(now));
    if (auto server = session->server_row(now)) rows.servers.push_back(*std::move(server));
  }
  rows.idle = worker.transaction_pools().idle();
  for (const Listeners::Info& one : worker.listeners().info())
    rows.listeners.push_back(
        {one.database, one.encoding, one.user, one.process_id, static_cast<std::int64_t>(one.channels),
         static_cast<std::int64_t>(one.notifications), static_cast<std::int64_t>(one.reconnects)});
  return rows;
}

admin::Snapshot make_snapshot_rows(Router& router, Part part, ConnectionRows connections) {
  admin::Snapshot rows;
  auto idle = router.shared().pool.snapshot();
  std::move(connections.idle.begin(), connections.idle.end(), std::back_inserter(idle));
  if (has(part, Part::Replicas))
    rows.replicas = replica_rows(router, connections, idle, router.telemetry().read());
  if (has(part, Part::Classes)) rows.classes = class_rows(router, router.telemetry().read(), nullptr);
  if (has(part, Part::Budgets)) rows.budgets = budget_rows(router);
  if (has(part, Part::Sizes)) rows.sizes = size_rows(router);
  if (has(part, Part::Cutoffs)) rows.cutoffs = cutoff_rows(router);
  if (has(part, Part::Hosts)) rows.hosts = host_rows(router);
  if (has(part, Part::Rtt)) rows.rtt = rtt_rows(router);
  if (has(part, Part::Profile)) {
    // The profile first: against a clock read before it was made its heartbeat would lie in the future.
    const profile::Profile live = live_profile(router);
    rows.profile = profile::to_json(live, std::chrono::steady_clock::now());
  }
  if (has(part, Part::Decisions)) rows.decisions = decision_rows(router, Admission::kDecisionsKept);
  if (has(part, Part::RoleChanges))
    rows.role_changes = role_change_events(router, Admission::kRoleChangesKept);
  if (has(part, Part::Stats)) rows.stats = stats_rows(router);
  if (has(part, Part::Pools)) rows.pools = pool_rows(connections, idle);
  if (has(part, Part::Lists))
    rows.lists = lists_row(router, connections, pool_rows(connections, idle).size());
  if (has(part, Part::Databases)) rows.databases = database_rows(router, connections);
  if (has(part, Part::Users)) rows.users = user_rows(router, connections);
  if (has(part, Part::Config)) rows.config = config_rows(router);
  if (has(part, Part::Cluster)) {
    const auto now = std::chrono::steady_clock::now();
    const ClusterFacts facts = router.cluster_facts();
    rows.cluster = cluster_rows(facts, now);
    rows.names = name_rows(facts, now);
  }
  if (has(part, Part::State)) rows.state = router.state();
  if (has(part, Part::Listeners)) rows.listeners = std::move(connections.listeners);
  if (has(part, Part::Memory)) rows.memory = memory_rows(router, connections);
  if (has(part, Part::Clients) || has(part, Part::Sockets)) rows.clients = std::move(connections.clients);
  if (has(part, Part::Servers) || has(part, Part::Sockets)) {
    rows.servers = std::move(connections.servers);
    auto kept = idle_rows(*router.snapshot(), idle);
    std::move(kept.begin(), kept.end(), std::back_inserter(rows.servers));
  }
  return rows;
}

protocol::ErrorFields killed() {
  return {"FATAL", "57P01", "terminating connection due to administrator command", "", ""};
}

}  // namespace sluice::router
