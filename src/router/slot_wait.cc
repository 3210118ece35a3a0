#include "router/slot_wait.h"

#include <utility>

#include <asio/experimental/as_tuple.hpp>
#include <asio/post.hpp>
#include <asio/use_awaitable.hpp>

#include "base/assert.h"

namespace sluice::router {

SlotWait::SlotWait(asio::any_io_executor executor) : executor_(executor), timer_(std::move(executor)) {}

void SlotWait::granted(Granted slot) noexcept {
  asio::post(executor_, [this, slot = std::move(slot)]() mutable {
    slot_ = std::move(slot);
    timer_.cancel();
  });
}

asio::awaitable<void> SlotWait::wait(Clock::time_point until) {
  while (!slot_ && !woken_ && Clock::now() < until) {
    timer_.expires_at(until);
    co_await timer_.async_wait(asio::experimental::as_tuple(asio::use_awaitable));
  }
  woken_ = false;
}

asio::awaitable<Granted> SlotWait::arrival() {
  while (!slot_) {
    timer_.expires_at(Clock::time_point::max());
    co_await timer_.async_wait(asio::experimental::as_tuple(asio::use_awaitable));
  }
  co_return take_slot();
}

void SlotWait::wake() {
  woken_ = true;
  timer_.cancel();
}

Granted SlotWait::take_slot() {
  SLUICE_ASSERT(slot_);
  return *std::exchange(slot_, std::nullopt);
}

}  // namespace sluice::router
