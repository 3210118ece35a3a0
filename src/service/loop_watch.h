#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include <asio/any_io_executor.hpp>
#include <asio/awaitable.hpp>
#include <asio/steady_timer.hpp>

namespace sluice::service {

// Calls `alive` every `period` while all event loops take what is posted to them: one round is asked, and the
// next begins `period` later or when the last loop has answered, whichever is later. So a stuck loop ends the
// calls, and they go on when it does. `stuck` is called once for a round that is late by a whole period, with
// how many loops have not answered.
// Thread: that of `home`, which is one of the loops that are asked; run() ends after stop(). The loops may
// outlive this object, and it them.
class LoopWatch {
 public:
  LoopWatch(asio::any_io_executor home, std::vector<asio::any_io_executor> others,
            std::chrono::microseconds period, std::function<void()> alive,
            std::function<void(std::size_t)> stuck);
  LoopWatch(const LoopWatch&) = delete;
  LoopWatch& operator=(const LoopWatch&) = delete;

  asio::awaitable<void> run();
  void stop();

 private:
  struct Round;
  std::shared_ptr<Round> ask();

  asio::any_io_executor home_;
  std::vector<asio::any_io_executor> others_;
  std::chrono::microseconds period_;
  std::function<void()> alive_;
  std::function<void(std::size_t)> stuck_;
  asio::steady_timer timer_;
  bool stopped_ = false;
};

}  // namespace sluice::service
