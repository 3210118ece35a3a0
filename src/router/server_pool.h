#pragma once

#include <chrono>
#include <cstddef>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "net/stream.h"
#include "router/server_connection.h"

namespace sluice::router {

// Idle server connections, reset and clean, waiting for a session of the same server, user, database and
// start-up parameters. Shared by all threads: a connection is taken off its event loop when it comes in
// (net::Stream::release) and put on the taker's when it goes out. Under a mutex, at the start and end of
// sessions only.
class ServerPool {
 public:
  using Clock = std::chrono::steady_clock;

  struct Limits {
    std::size_t per_key_max = 0;          // idle connections of one key
    std::size_t total_max = 0;            // idle connections of all keys
    std::chrono::seconds idle_timeout{};  // zero: none
    std::chrono::seconds lifetime{};      // since the connection was opened; zero: none
  };

  // An idle connection, off every event loop.
  struct Idle {
    net::DetachedStream stream;
    ServerId server;
    std::int32_t process_id = 0;
    Bytes secret;
    std::shared_ptr<const ParameterSet> parameters;
    std::string user;  // of the session before, for the console
    std::string database;
    Clock::time_point opened_at;
    Clock::time_point idle_since;
  };

  // Keeps the connection, or closes it when there is no room for it. `connection.pool_key` is not empty.
  void give(ServerConnection connection, const Limits& limits, Clock::time_point now);
  // The most recently used connection of that key, or nothing. The caller still has to see that it is alive.
  std::optional<Idle> take(const std::string& key);
  // Closes what is idle or alive for too long, and what the server closed meanwhile. Returns how many were
  // closed.
  std::size_t sweep(const Limits& limits, Clock::time_point now);
  // Closes all connections of a server that is gone, or of every server.
  void drop(ServerId server);
  void drop_database(std::string_view database);  // by its name on the server
  void drop_all();

  struct IdleInfo {
    std::string user;  // the session's before
    std::string database;
    ServerId server;
    std::int32_t process_id;
    Clock::time_point opened_at;
    Clock::time_point idle_since;
    int fd;
  };
  std::vector<IdleInfo> snapshot() const;
  std::size_t size() const;

 private:
  std::size_t drop_if(auto&& condition);

  mutable std::mutex mutex_;
  std::map<std::string, std::vector<Idle>> idle_;  // each list oldest first
  std::size_t count_ = 0;
};

}  // namespace sluice::router
