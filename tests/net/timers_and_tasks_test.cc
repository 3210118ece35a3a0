#include <chrono>
#include <optional>
#include <stdexcept>

#include <asio/co_spawn.hpp>
#include <asio/steady_timer.hpp>
#include <asio/this_coro.hpp>
#include <gtest/gtest.h>

#include "net/buffer_pool.h"
#include "net/deadline.h"
#include "net/task_group.h"
#include "tests/net/net_test_support.h"

namespace sluice::net {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

TEST(Deadline, CallsOnceWhenItExpires) {
  asio::io_context io(1);
  int calls = 0;
  const Deadline deadline(io.get_executor(), milliseconds(1), [&] { ++calls; });
  EXPECT_FALSE(deadline.expired());
  io.run();
  EXPECT_EQ(calls, 1);
  EXPECT_TRUE(deadline.expired());
  EXPECT_EQ(deadline.remaining(), std::chrono::steady_clock::duration::zero());
}

TEST(Deadline, IsSilentOnceDestroyedEvenWhenItsTimerHasFired) {
  asio::io_context io(1);
  int calls = 0;
  // Both timers are due when the loop first looks; the first to run destroys the other.
  std::optional<Deadline> second;
  const Deadline first(io.get_executor(), milliseconds(0), [&] { second.reset(); });
  second.emplace(io.get_executor(), milliseconds(0), [&] { ++calls; });
  io.run();
  EXPECT_EQ(calls, 0);
}

TEST(Deadline, MayBeDestroyedByItsOwnCallback) {
  asio::io_context io(1);
  std::optional<Deadline> deadline;
  int calls = 0;
  deadline.emplace(io.get_executor(), milliseconds(0), [&] {
    deadline.reset();
    ++calls;
  });
  io.run();
  EXPECT_EQ(calls, 1);
}

TEST(Deadline, CountsAnewAfterAReset) {
  asio::io_context io(1);
  int calls = 0;
  Deadline deadline(io.get_executor(), hours(1), [&] { ++calls; });
  EXPECT_GT(deadline.remaining(), milliseconds(3'500'000));
  deadline.reset(milliseconds(1));
  io.run();
  EXPECT_EQ(calls, 1);
  deadline.reset(milliseconds(1));
  EXPECT_FALSE(deadline.expired());
  io.restart();
  io.run();
  EXPECT_EQ(calls, 2);
}

asio::awaitable<void> wait_until_cancelled(int& cancelled) {
  co_await asio::this_coro::throw_if_cancelled(false);
  asio::steady_timer timer(co_await asio::this_coro::executor, hours(1));
  const auto [ec] = co_await timer.async_wait(test::kAwait);
  if (ec == asio::error::operation_aborted) ++cancelled;
}

asio::awaitable<void> nothing(bool& ran) {
  ran = true;
  co_return;
}

TEST(TaskGroup, StopsItsTasksAndRefusesNewOnes) {
  asio::io_context io(1);
  TaskGroup group(io.get_executor());
  int cancelled = 0;
  for (int i = 0; i < 100; ++i)
    EXPECT_TRUE(group.spawn("wait", wait_until_cancelled(cancelled)));
  EXPECT_EQ(group.size(), 100u);
  test::run(io, [](TaskGroup& g) -> asio::awaitable<void> { co_await g.stop(); }(group));
  EXPECT_EQ(cancelled, 100);
  EXPECT_EQ(group.size(), 0u);
  bool ran = false;
  EXPECT_FALSE(group.spawn("late", nothing(ran)));
  io.restart();
  io.run();
  EXPECT_FALSE(ran);
}

TEST(TaskGroup, StopsATaskThatHasYetToRun) {
  asio::io_context io(1);
  TaskGroup group(io.get_executor());
  int cancelled = 0;
  // The stopper was spawned first, so it runs first.
  asio::co_spawn(
      io, [](TaskGroup& g) -> asio::awaitable<void> { co_await g.stop(); }(group),
      [](const std::exception_ptr& failure) { EXPECT_FALSE(failure); });
  group.spawn("wait", wait_until_cancelled(cancelled));
  io.run();
  EXPECT_EQ(group.size(), 0u);
}

TEST(TaskGroup, WaitsForTasksThatEndByThemselves) {
  asio::io_context io(1);
  TaskGroup group(io.get_executor());
  bool ran = false;
  group.spawn("nothing", nothing(ran));
  test::run(io, [](TaskGroup& g) -> asio::awaitable<void> { co_await g.wait(); }(group));
  EXPECT_TRUE(ran);
  EXPECT_FALSE(group.stopping());
}

asio::awaitable<void> wait_twice(int& waited) {
  co_await asio::this_coro::throw_if_cancelled(false);
  for (int i = 0; i < 2; ++i) {
    asio::steady_timer timer(co_await asio::this_coro::executor, hours(1));
    co_await timer.async_wait(test::kAwait);
    ++waited;
  }
}

TEST(TaskGroup, CancelsATaskAgainThatWaitsAgain) {
  asio::io_context io(1);
  TaskGroup group(io.get_executor());
  int waited = 0;
  group.spawn("wait twice", wait_twice(waited));
  test::run(io, [](TaskGroup& g) -> asio::awaitable<void> { co_await g.stop(); }(group));
  EXPECT_EQ(waited, 2);
}

asio::awaitable<void> throws() {
  throw std::runtime_error("oh");
  co_return;
}

TEST(TaskGroupDeathTest, EndsTheProgramWhenATaskThrows) {
  EXPECT_DEATH(
      {
        asio::io_context io(1);
        TaskGroup group(io.get_executor());
        group.spawn("careless", throws());
        io.run();
      },
      "task careless ended by an exception: oh");
}

TEST(BufferPool, LendsWholePagesAndTakesThemBack) {
  BufferPool pool(10'000);
  EXPECT_EQ(pool.buffer_bytes(), 12'288u);
  PooledBuffer a = pool.take();
  PooledBuffer b = pool.take();
  EXPECT_EQ(a.span().size(), 12'288u);
  a.span().back() = b.span().front() = std::byte{1};
  EXPECT_EQ(pool.lent(), 2u);
  const std::byte* const place = a.span().data();
  a.reset();
  EXPECT_FALSE(a);
  EXPECT_TRUE(a.span().empty());
  a = pool.take();
  EXPECT_EQ(a.span().data(), place);
  b = std::move(a);
  EXPECT_EQ(pool.lent(), 1u);
  EXPECT_EQ(pool.free(), 1u);
}

TEST(BufferPool, KeepsNoMoreThanItsBound) {
  BufferPool pool(4096, 3);
  {
    std::vector<PooledBuffer> many;
    for (int i = 0; i < 10; ++i)
      many.push_back(pool.take());
  }
  EXPECT_EQ(pool.free(), 3u);
}

TEST(BufferPool, GivesUnusedBuffersBackWhenIdle) {
  BufferPool pool(4096, 100);
  {
    std::vector<PooledBuffer> many;
    for (int i = 0; i < 64; ++i)
      many.push_back(pool.take());
  }
  pool.trim();  // all were in use since the start
  EXPECT_EQ(pool.free(), 64u);
  for (int i = 0; i < 3; ++i) {
    const PooledBuffer busy = pool.take();
    pool.trim();
  }
  EXPECT_LT(pool.free(), 32u);
  for (int i = 0; i < 10; ++i)
    pool.trim();
  EXPECT_EQ(pool.free(), 0u);
}

}  // namespace
}  // namespace sluice::net
