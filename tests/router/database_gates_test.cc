#include "router/database_gates.h"

#include <chrono>

#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>
#include <gtest/gtest.h>

namespace sluice::router {
namespace {

using namespace std::chrono_literals;
using Clock = DatabaseGates::Clock;
using Pause = DatabaseGates::Pause;

TEST(DatabaseGates, AreOpenAtFirst) {
  const DatabaseGates gates;
  EXPECT_FALSE(gates.paused("shop"));
  EXPECT_FALSE(gates.all_paused());
  EXPECT_FALSE(gates.disabled("shop"));
  EXPECT_FALSE(gates.outdated("shop", Clock::time_point::min()));
}

TEST(DatabaseGates, PauseOneByNameAndAllWithout) {
  DatabaseGates gates;
  EXPECT_EQ(gates.pause("shop"), Pause::Done);
  EXPECT_EQ(gates.pause("shop"), Pause::AlreadyPaused);
  EXPECT_TRUE(gates.paused("shop"));
  EXPECT_FALSE(gates.paused("other"));
  EXPECT_EQ(gates.pause(std::nullopt), Pause::Done);
  EXPECT_TRUE(gates.paused("other"));
  EXPECT_TRUE(gates.resume(std::nullopt));
  EXPECT_TRUE(gates.paused("shop")) << "paused by its name";
  EXPECT_FALSE(gates.paused("other"));
  EXPECT_FALSE(gates.resume("other"));
  EXPECT_FALSE(gates.resume(std::nullopt));
  EXPECT_TRUE(gates.resume("shop"));
  EXPECT_FALSE(gates.paused("shop"));
}

// Of a takeover: what was paused in between would be left behind for ever.
TEST(DatabaseGates, ThatAreHeldOpenAreNotPaused) {
  DatabaseGates gates;
  ASSERT_TRUE(gates.hold_open());
  EXPECT_EQ(gates.pause("shop"), Pause::Refused);
  EXPECT_EQ(gates.pause(std::nullopt), Pause::Refused);
  EXPECT_FALSE(gates.paused("shop"));
  gates.let_go();
  EXPECT_EQ(gates.pause("shop"), Pause::Done);
  EXPECT_FALSE(gates.hold_open());
  EXPECT_TRUE(gates.resume("shop"));
  EXPECT_EQ(gates.pause("other"), Pause::Done) << "the refusal held nothing";
}

TEST(DatabaseGates, DisableByNameAlone) {
  DatabaseGates gates;
  EXPECT_TRUE(gates.disable("shop"));
  EXPECT_FALSE(gates.disable("shop"));
  EXPECT_TRUE(gates.disabled("shop"));
  EXPECT_FALSE(gates.disabled("other"));
  EXPECT_TRUE(gates.enable("shop"));
  EXPECT_FALSE(gates.enable("shop"));
  EXPECT_FALSE(gates.disabled("shop"));
}

TEST(DatabaseGates, CallConnectionsOutdatedThatAreOlderThanReconnect) {
  DatabaseGates gates;
  const Clock::time_point start(1h);
  gates.reconnect("shop", start + 10s);
  EXPECT_TRUE(gates.outdated("shop", start));
  EXPECT_FALSE(gates.outdated("shop", start + 10s));
  EXPECT_FALSE(gates.outdated("other", start));
  gates.reconnect(std::nullopt, start + 20s);
  EXPECT_TRUE(gates.outdated("other", start + 19s));
  EXPECT_TRUE(gates.outdated("shop", start + 19s));
  EXPECT_FALSE(gates.outdated("shop", start + 21s));
}

TEST(WakeList, WakesAllWhoWaitAndForgetsThem) {
  asio::io_context io;
  WakeList list(io.get_executor());
  int woken = 0;
  const auto wait = [&]() -> asio::awaitable<void> {
    co_await list.wait_until(Clock::time_point::max());
    ++woken;
  };
  for (int i = 0; i < 3; ++i)
    asio::co_spawn(io, wait, [](std::exception_ptr) {});
  io.poll();
  EXPECT_EQ(list.size(), 3U);
  list.wake_all();
  io.restart();
  io.poll();
  EXPECT_EQ(woken, 3);
  EXPECT_EQ(list.size(), 0U);
}

TEST(WakeList, ReturnsAtTheTimeGiven) {
  asio::io_context io;
  WakeList list(io.get_executor());
  bool returned = false;
  asio::co_spawn(
      io,
      [&]() -> asio::awaitable<void> {
        co_await list.wait_until(Clock::time_point::min());
        returned = true;
      },
      [](std::exception_ptr) {});
  io.run();
  EXPECT_TRUE(returned);
  EXPECT_EQ(list.size(), 0U);
}

}  // namespace
}  // namespace sluice::router
