#pragma once

#include <memory>
#include <string>
#include <vector>

#include <asio/io_context.hpp>

#include "pgclient/auth_query.h"
#include "router/directory.h"
#include "router/snapshot.h"
#include "telemetry/metrics.h"

namespace sluice::router {

// The directory that asks PostgreSQL, on the control thread.
class ServerDirectory final : public Directory {
 public:
  ServerDirectory(asio::io_context& control, const Snapshot& snapshot, telemetry::ThreadMetrics& metrics);

  asio::awaitable<Result<protocol::Secret>> secret_of(std::string user) override;
  asio::awaitable<Result<std::vector<std::string>>> roles_of(std::string user) override;
  void forget(std::string user) override;

  // On the control thread. After a reload; what is known of users is forgotten.
  void reconfigure(const Snapshot& snapshot);
  // Where only the servers are others: it is kept, or every failover would ask for every user at once.
  void follow(const Snapshot& snapshot);

 private:
  asio::io_context& control_;
  pgclient::AuthQuery query_;
};

// How our own queries (auth_query, health checks) reach a server: TLS and its files as configured for
// servers.
pgclient::ConnectParams control_connection(const Snapshot& snapshot, const ServerEndpoint& server,
                                           std::string user, std::string password, std::string database);

}  // namespace sluice::router
