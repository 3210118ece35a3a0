#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "pgclient/client.h"

namespace sluice::tests {

// A throw-away PostgreSQL in a directory of its own under the temporary directory, on a free port of
// 127.0.0.1 (scram-sha-256) and a Unix socket (trust). Superuser postgres, password "postgres". Started by
// root it runs as the user postgres. Stopped and removed with the object.
class PostgresServer {
 public:
  // Why there can be no server here: no binaries, no user to run it as. A test skips with this text.
  static std::optional<std::string> unavailable();

  PostgresServer();  // creates and starts; throws std::runtime_error with the log's path
  // A streaming standby of `primary`.
  explicit PostgresServer(const PostgresServer& primary, std::string name);
  PostgresServer(const PostgresServer&) = delete;
  PostgresServer& operator=(const PostgresServer&) = delete;
  ~PostgresServer();

  void start();
  void stop();  // immediate, as in a crash
  void promote();
  void sql(const std::string& statement) const;  // psql as superuser; throws when it fails

  std::uint16_t port() const noexcept { return port_; }
  const std::string& directory() const noexcept { return directory_; }
  pgclient::ConnectParams over_tcp() const;
  pgclient::ConnectParams over_unix_socket() const;

 private:
  std::string directory_;  // holds data/, the socket and the log
  std::uint16_t port_ = 0;
  bool running_ = false;
};

}  // namespace sluice::tests
