#pragma once

#include <chrono>
#include <optional>

#include <asio/any_io_executor.hpp>
#include <asio/awaitable.hpp>
#include <asio/steady_timer.hpp>

#include "router/admission.h"

namespace sluice::router {

// A waiter for a coroutine: the slot comes to the coroutine's own thread, and its timer ends early.
class SlotWait final : public Waiter {
 public:
  using Clock = std::chrono::steady_clock;

  explicit SlotWait(asio::any_io_executor executor);

  void granted(Granted slot) noexcept override;

  // Until there is a slot, somebody calls wake(), or it is that time.
  asio::awaitable<void> wait(Clock::time_point until);
  // Until the slot comes that withdraw() said is on its way.
  asio::awaitable<Granted> arrival();
  void wake();
  bool has_slot() const noexcept { return slot_.has_value(); }
  Granted take_slot();

 private:
  asio::any_io_executor executor_;
  asio::steady_timer timer_;
  std::optional<Granted> slot_;
  bool woken_ = false;
};

}  // namespace sluice::router
