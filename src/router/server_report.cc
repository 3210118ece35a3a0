#include "router/server_report.h"

#include <asio/experimental/as_tuple.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>

namespace sluice::router {

void ServerReport::learn(std::shared_ptr<const ParameterSet> parameters) {
  parameters_ = std::move(parameters);
  for (asio::steady_timer& timer : waiting_)
    timer.cancel();
}

// Who waits goes on when what runs now is done: a connection is adopted by then.
ServerReport::Attempt::~Attempt() {
  if (--report_.attempts_ == 0 && !report_.waiting_.empty()) report_.waiting_.front().cancel();
}

asio::awaitable<void> ServerReport::wait(Clock::time_point until) {
  const auto executor = co_await asio::this_coro::executor;
  while (!parameters_ && attempts_ > 0 && Clock::now() < until) {
    const auto timer = waiting_.emplace(waiting_.end(), executor, until);
    co_await timer->async_wait(asio::experimental::as_tuple(asio::use_awaitable));
    waiting_.erase(timer);
  }
}

}  // namespace sluice::router
