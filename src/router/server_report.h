#pragma once

#include <chrono>
#include <cstddef>
#include <list>
#include <memory>
#include <utility>

#include <asio/awaitable.hpp>
#include <asio/steady_timer.hpp>

#include "router/parameter_set.h"

namespace sluice::router {

// What the servers of a pool report of their settings, with which its clients are greeted. While nobody knows
// it, one session that logs in opens a connection, and the others wait for what it learns. What is changed at
// a server afterwards is heard from the next connection. Thread: one.
class ServerReport {
 public:
  using Clock = std::chrono::steady_clock;

  // As the last connection that was opened heard it; null while none was, or after forget().
  const std::shared_ptr<const ParameterSet>& parameters() const noexcept { return parameters_; }
  void learn(std::shared_ptr<const ParameterSet> parameters);
  void forget() noexcept { parameters_.reset(); }

  // A session opens a connection, successfully or not.
  class Attempt {
   public:
    explicit Attempt(ServerReport& report) noexcept : report_(report) { ++report_.attempts_; }
    Attempt(const Attempt&) = delete;
    Attempt& operator=(const Attempt&) = delete;
    ~Attempt();

   private:
    ServerReport& report_;
  };
  // Until there are parameters, nobody is at it and it is this one's turn, or it is that time.
  asio::awaitable<void> wait(Clock::time_point until);

 private:
  std::shared_ptr<const ParameterSet> parameters_;
  std::size_t attempts_ = 0;
  std::list<asio::steady_timer> waiting_;
};

}  // namespace sluice::router
