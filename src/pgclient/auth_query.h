#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <asio/any_io_executor.hpp>
#include <asio/awaitable.hpp>

#include "base/result.h"
#include "pgclient/client.h"
#include "protocol/secret.h"

namespace sluice::pgclient {

enum class Freshness {
  Cached,   // an entry within its time to live will do
  Refresh,  // ask the server, unless it was asked about this user within refresh_interval_min: for a login
            // that failed with the cached secret, which may have changed
};

// What auth_query's lookups came to, for metrics.
enum class LookupOutcome { Hit, NegativeHit, Found, NotFound, Failed };

// Looks up users' secrets and roles on a PostgreSQL server. One query per user at a time whoever asks, a
// bounded cache (the least recently used goes first) that also remembers unknown users, a bounded number of
// connections. Lives on one executor; from another thread use call_on().
class AuthQuery {
 public:
  struct Settings {
    std::vector<ConnectParams> servers;  // tried in order, the last that worked first
    // One parameter, the user; two columns, of which the second is the secret (PgBouncer's auth_query).
    std::string sql;
    // One parameter, the user; the first column names a role that the user is a member of.
    std::string roles_sql = {};
    std::chrono::milliseconds connect_timeout{5'000}, query_timeout{5'000};
    std::chrono::milliseconds ttl{30'000}, negative_ttl{5'000}, refresh_interval_min{1'000};
    std::size_t entries_max = 10'000;
    std::size_t connections_max = 2;
    std::size_t waiting_max = 1'000;  // lookups that wait for a connection or for another's answer
  };

  AuthQuery(asio::any_io_executor executor, Settings settings);
  AuthQuery(const AuthQuery&) = delete;
  AuthQuery& operator=(const AuthQuery&) = delete;
  ~AuthQuery();  // no lookup may be running

  // UnknownUser for no row or a NULL secret. Errors: side Server, when no server answered in time, or the
  // answer has not the right shape, or a secret that is none (SecretErrc); each is logged, without the
  // secret.
  asio::awaitable<Result<protocol::Secret>> lookup(std::string user, Freshness freshness = Freshness::Cached);
  // Names of the roles that roles_sql gives, sorted. Empty for an unknown user.
  asio::awaitable<Result<std::vector<std::string>>> roles_of(std::string user);

  // A changed configuration; drops cache and connections, running lookups end as they began.
  void reconfigure(Settings settings);
  // The same users on other servers, after a failover for instance: what is known of them stays.
  void use_servers(std::vector<ConnectParams> servers);
  void on_outcome(std::function<void(LookupOutcome)> observer);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// The query of PgBouncer, for servers where `user` may read pg_authid.
extern const char* const kDefaultAuthQuery;
// The user's roles, itself and indirect ones included.
extern const char* const kDefaultRolesQuery;

}  // namespace sluice::pgclient
