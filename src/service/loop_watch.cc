#include "service/loop_watch.h"

#include <atomic>
#include <utility>

#include <asio/experimental/as_tuple.hpp>
#include <asio/post.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>

namespace sluice::service {

// What the loops write to, so that one that answers late finds it.
struct LoopWatch::Round {
  explicit Round(std::size_t asked) : missing(asked) {}
  std::atomic<std::size_t> missing;
};

LoopWatch::LoopWatch(asio::any_io_executor home, std::vector<asio::any_io_executor> others,
                     std::chrono::microseconds period, std::function<void()> alive,
                     std::function<void(std::size_t)> stuck)
    : home_(std::move(home)),
      others_(std::move(others)),
      period_(period),
      alive_(std::move(alive)),
      stuck_(std::move(stuck)),
      timer_(home_) {}

std::shared_ptr<LoopWatch::Round> LoopWatch::ask() {
  auto round = std::make_shared<Round>(others_.size());
  for (const asio::any_io_executor& loop : others_)
    asio::post(loop, [round] { round->missing.fetch_sub(1, std::memory_order_relaxed); });
  return round;
}

asio::awaitable<void> LoopWatch::run() {
  constexpr auto kAwait = asio::experimental::as_tuple(asio::use_awaitable);
  // A round is looked at some times in a period, so that the sign of life comes when the last loop answers.
  constexpr int kLooks = 8;
  co_await asio::this_coro::throw_if_cancelled(false);
  while (!stopped_) {
    const std::shared_ptr<Round> round = ask();
    bool answered = false;
    for (int look = 1; !stopped_ && (look <= kLooks || !answered); ++look) {
      timer_.expires_after(period_ / kLooks);
      (void)co_await timer_.async_wait(kAwait);
      const std::size_t missing = round->missing.load(std::memory_order_relaxed);
      if (missing == 0 && !std::exchange(answered, true)) alive_();
      if (missing > 0 && look == 2 * kLooks) stuck_(missing);
    }
  }
}

void LoopWatch::stop() {
  stopped_ = true;
  timer_.cancel();
}

}  // namespace sluice::service
