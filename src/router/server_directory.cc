#include "router/server_directory.h"

#include <functional>
#include <utility>

#include <asio/co_spawn.hpp>

#include "pgclient/call_on.h"

namespace sluice::router {
namespace {

// The primary knows every role first; the replicas answer where it is not configured or away.
pgclient::AuthQuery::Settings settings_of(const Snapshot& snapshot) {
  const config::Options& options = snapshot.options();
  pgclient::AuthQuery::Settings settings;
  const auto add = [&](const ServerEndpoint& server) {
    settings.servers.push_back(control_connection(snapshot, server, options.auth_user,
                                                  snapshot.config->passwords.auth_user, options.auth_dbname));
  };
  if (const auto primary = snapshot.servers.find(kPrimary); primary != snapshot.servers.end())
    add(primary->second);
  for (const auto& [id, server] : snapshot.servers)
    if (id != kPrimary) add(server);
  settings.sql = options.auth_query;
  settings.roles_sql = options.role_query;
  settings.connect_timeout = options.server_connect_timeout;
  settings.query_timeout = options.server_connect_timeout;
  settings.ttl = options.auth_query_cache_ttl;
  // Forgotten sooner, unknown users would be told from known ones by the time of a second try.
  settings.negative_ttl = options.auth_query_cache_ttl;
  settings.entries_max = options.auth_query_cache_max;
  return settings;
}

asio::awaitable<void> refresh(pgclient::AuthQuery& query, std::string user) {
  (void)co_await query.lookup(std::move(user), pgclient::Freshness::Refresh);
}

telemetry::LookupResult label_of(pgclient::LookupOutcome outcome) {
  switch (outcome) {
    case pgclient::LookupOutcome::Hit:
      return telemetry::LookupResult::Hit;
    case pgclient::LookupOutcome::NegativeHit:
      return telemetry::LookupResult::NegativeHit;
    case pgclient::LookupOutcome::Found:
      return telemetry::LookupResult::Found;
    case pgclient::LookupOutcome::NotFound:
      return telemetry::LookupResult::NotFound;
    case pgclient::LookupOutcome::Failed:
      return telemetry::LookupResult::Failed;
  }
  return telemetry::LookupResult::Failed;
}

}  // namespace

pgclient::ConnectParams control_connection(const Snapshot& snapshot, const ServerEndpoint& server,
                                           std::string user, std::string password, std::string database) {
  const config::Options& options = snapshot.options();
  pgclient::ConnectParams params;
  params.host = server.verified_name();
  if (!server.tls_name.empty()) params.hostaddr = server.target.host;
  params.port = server.control_port > 0 ? server.control_port : server.target.port;
  params.user = std::move(user);
  params.password = std::move(password);
  params.database = std::move(database);
  params.sslmode = config::word_of(options.server_tls_sslmode);
  params.ssl_ca_file = options.server_tls_ca_file;
  params.ssl_cert_file = options.server_tls_cert_file;
  params.ssl_key_file = options.server_tls_key_file;
  return params;
}

ServerDirectory::ServerDirectory(asio::io_context& control, const Snapshot& snapshot,
                                 telemetry::ThreadMetrics& metrics)
    : control_(control), query_(control.get_executor(), settings_of(snapshot)) {
  query_.on_outcome([&metrics](pgclient::LookupOutcome outcome) {
    metrics.count(telemetry::metric::auth_query_lookups_total, label_of(outcome));
  });
}

asio::awaitable<Result<protocol::Secret>> ServerDirectory::secret_of(std::string user) {
  // A named function: GCC 12 destroys a temporary one with captures twice.
  std::function<asio::awaitable<Result<protocol::Secret>>()> lookup = [this, user] {
    return query_.lookup(user);
  };
  co_return co_await pgclient::call_on<protocol::Secret>(control_.get_executor(), std::move(lookup));
}

asio::awaitable<Result<std::vector<std::string>>> ServerDirectory::roles_of(std::string user) {
  std::function<asio::awaitable<Result<std::vector<std::string>>>()> lookup = [this, user] {
    return query_.roles_of(user);
  };
  co_return co_await pgclient::call_on<std::vector<std::string>>(control_.get_executor(), std::move(lookup));
}

void ServerDirectory::forget(std::string user) {
  // Asked anew where the last answer did not log in; the answer waits in the cache for the next login.
  asio::co_spawn(control_, refresh(query_, std::move(user)), [](std::exception_ptr) {});
}

void ServerDirectory::reconfigure(const Snapshot& snapshot) {
  query_.reconfigure(settings_of(snapshot));
}

void ServerDirectory::follow(const Snapshot& snapshot) {
  query_.use_servers(settings_of(snapshot).servers);
}

}  // namespace sluice::router
