#include "bench/abandoned.h"

#include <utility>

#include <asio/experimental/as_tuple.hpp>
#include <asio/steady_timer.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>

#include "bench/clock.h"

namespace sluice::bench {
namespace {

// In the middle of a run: its session is over then, whatever the server does.
constexpr std::chrono::seconds kSettleEach{10};

}  // namespace

void Abandoned::give_up(pgclient::Client client) {
  ++count_;
  sender_.send(client.cancel());
  if (!settling_.spawn("abandoned query", settle(std::move(client)))) ++open_;
}

asio::awaitable<void> Abandoned::settle(pgclient::Client client) {
  co_await asio::this_coro::throw_if_cancelled(false);
  const bool ended = co_await client.settle(kSettleEach);
  if (!ended) ++open_;
}

asio::awaitable<void> Abandoned::finish(std::chrono::milliseconds timeout) {
  const Clock::time_point end = Clock::now() + timeout;
  asio::steady_timer timer(co_await asio::this_coro::executor);
  while (settling_.size() > 0 && Clock::now() < end) {
    timer.expires_after(std::chrono::milliseconds(20));
    co_await timer.async_wait(asio::experimental::as_tuple(asio::use_awaitable));
  }
  co_await settling_.stop();
}

}  // namespace sluice::bench
