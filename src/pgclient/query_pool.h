#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <asio/any_io_executor.hpp>
#include <asio/awaitable.hpp>
#include <asio/steady_timer.hpp>

#include "pgclient/client.h"

namespace sluice::pgclient {

// Runs queries over at most `connections_max` kept connections to the first of several servers that works.
// A kept connection that turns out lost is replaced once within the same query. Lives on one executor; the
// coroutines must end before it does.
class QueryPool {
 public:
  struct Settings {
    std::vector<ConnectParams> servers;
    std::size_t connections_max = 2;
    std::size_t waiting_max = 1'000;
    std::chrono::milliseconds connect_timeout{5'000}, query_timeout{5'000};
  };

  explicit QueryPool(Settings settings) : settings_(std::move(settings)) {}

  // Waits up to connect_timeout for a connection; PgErrc::PoolBusy when none became free or too many wait.
  asio::awaitable<PgResult<Rows>> query(std::string sql, std::vector<std::optional<std::string>> params);

  // Kept connections are closed, those in use when their query has ended.
  void reconfigure(Settings settings);

 private:
  class Slot;
  asio::awaitable<bool> wait_for_slot(std::chrono::steady_clock::time_point deadline);
  asio::awaitable<PgResult<Client>> connect_any(Settings settings);

  Settings settings_;
  std::size_t generation_ = 0, preferred_ = 0;
  std::size_t in_use_ = 0;
  std::vector<Client> idle_;  // with in_use_ at most connections_max
  std::deque<std::shared_ptr<asio::steady_timer>> waiting_;
};

}  // namespace sluice::pgclient
