#include "net/deadline.h"

#include <algorithm>

#include <asio/steady_timer.hpp>

namespace sluice::net {

// Shared with the timer's handler, which may already be queued when the Deadline goes.
struct Deadline::State {
  State(asio::any_io_executor executor, std::function<void()> callback)
      : timer(std::move(executor)), on_expiry(std::move(callback)) {}

  asio::steady_timer timer;
  std::function<void()> on_expiry;
  unsigned round = 0;  // a handler of an earlier round, or of a dead Deadline, does nothing
  bool expired = false;
};

Deadline::Deadline(asio::any_io_executor executor, std::chrono::steady_clock::duration duration,
                   std::function<void()> on_expiry)
    : state_(std::make_shared<State>(std::move(executor), std::move(on_expiry))) {
  arm(state_, duration);
}

Deadline::~Deadline() {
  ++state_->round;
  state_->on_expiry = nullptr;
  state_->timer.cancel();
}

bool Deadline::expired() const noexcept {
  return state_->expired;
}

std::chrono::steady_clock::duration Deadline::remaining() const {
  if (state_->expired) return {};
  return std::max(state_->timer.expiry() - std::chrono::steady_clock::now(),
                  std::chrono::steady_clock::duration{});
}

void Deadline::reset(std::chrono::steady_clock::duration duration) {
  state_->expired = false;
  arm(state_, duration);
}

void Deadline::arm(const std::shared_ptr<State>& state, std::chrono::steady_clock::duration duration) {
  const unsigned round = ++state->round;
  state->timer.expires_after(duration);
  state->timer.async_wait([state, round](std::error_code) {
    if (round != state->round) return;
    state->expired = true;
    const std::function<void()> callback = state->on_expiry;  // it may destroy the Deadline
    if (callback) callback();
  });
}

}  // namespace sluice::net
