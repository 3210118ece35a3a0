#include "bench/abandoned.h"

#include <utility>

#include <asio/experimental/as_tuple.hpp>
#include <asio/steady_timer.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>

namespace sluice::bench {

void Abandoned::give_up(pgclient::Client client) {
  ++count_;
  sender_.send(client.cancel());
  if (!settling_.spawn("abandoned query", settle(std::move(client)))) ++open_;
}

asio::awaitable<void> Abandoned::settle(pgclient::Client client) {
  co_await asio::this_coro::throw_if_cancelled(false);
  const bool ended = co_await client.settle(kSettle);
  if (!ended) ++open_;
}

asio::awaitable<void> Abandoned::finish(const WaitOn& wait_on) {
  asio::steady_timer timer(co_await asio::this_coro::executor);
  while (settling_.size() > 0 && wait_on(settling_.size())) {
    timer.expires_after(std::chrono::milliseconds(20));
    co_await timer.async_wait(asio::experimental::as_tuple(asio::use_awaitable));
  }
  co_await settling_.stop();
}

}  // namespace sluice::bench
