#pragma once

#include <chrono>
#include <cstddef>
#include <functional>

#include <asio/any_io_executor.hpp>
#include <asio/awaitable.hpp>

#include "net/task_group.h"
#include "pgclient/cancel.h"
#include "pgclient/client.h"

namespace sluice::bench {

// How long each is waited for: its session is over then, whatever the server does.
inline constexpr std::chrono::seconds kSettle{10};

// Queries that a terminal gave up. The server would work on, for nobody, beside those that are still measured
// and into the next run: so it is asked to cancel them, and their connections are held until it has. One
// thread.
class Abandoned {
 public:
  explicit Abandoned(const asio::any_io_executor& executor) : settling_(executor) {}

  void give_up(pgclient::Client client);

  // Whether to wait on for so many that the server has not ended. Asked many times a second.
  using WaitOn = std::function<bool(std::size_t open)>;
  // Waits until the server has ended all of them, or `wait_on`, which outlives it, says no; then closes what
  // is left. Nothing may be given up afterwards.
  asio::awaitable<void> finish(const WaitOn& wait_on);

  std::size_t count() const noexcept { return count_; }  // that were given up
  std::size_t open() const noexcept { return open_; }  // of them, that had not ended when we stopped waiting

 private:
  asio::awaitable<void> settle(pgclient::Client client);

  pgclient::CancelSender sender_;
  std::size_t count_ = 0, open_ = 0;
  net::TaskGroup settling_;
};

}  // namespace sluice::bench
