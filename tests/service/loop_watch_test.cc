#include "service/loop_watch.h"

#include <chrono>
#include <cstddef>
#include <functional>
#include <vector>

#include <asio/co_spawn.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <gtest/gtest.h>

namespace sluice::service {
namespace {

using namespace std::chrono_literals;

// A home loop that runs, and two others that run when the test says so.
class LoopWatchTest : public testing::Test {
 protected:
  LoopWatchTest()
      : watch_(
            home_.get_executor(), {first_.get_executor(), second_.get_executor()}, 4ms, [this] { ++alive_; },
            [this](std::size_t missing) { stuck_.push_back(missing); }) {
    asio::co_spawn(home_, watch_.run(), [](std::exception_ptr error) {
      if (error) std::rethrow_exception(error);
    });
  }
  ~LoopWatchTest() override {
    watch_.stop();
    home_.run();
  }

  static void turn(asio::io_context& loop) {
    loop.restart();
    loop.poll();
  }
  // Turns `loops` and the home loop until `done`.
  void turn_until(std::vector<asio::io_context*> loops, const std::function<bool()>& done) {
    for (int i = 0; i < 100'000 && !done(); ++i) {
      for (asio::io_context* const loop : loops)
        turn(*loop);
      home_.run_one_for(1ms);
    }
    ASSERT_TRUE(done());
  }

  asio::io_context home_{1}, first_{1}, second_{1};
  int alive_ = 0;
  std::vector<std::size_t> stuck_;
  LoopWatch watch_;
};

TEST_F(LoopWatchTest, GivesSignsOfLifeWhileAllLoopsTurn) {
  turn_until({&first_, &second_}, [this] { return alive_ >= 5; });
  EXPECT_TRUE(stuck_.empty());
}

TEST_F(LoopWatchTest, OneStuckLoopEndsThemAndIsToldOnce) {
  turn_until({&first_, &second_}, [this] { return alive_ >= 1; });
  turn_until({&first_}, [this] { return !stuck_.empty(); });
  const int before = alive_;
  const auto until = std::chrono::steady_clock::now() + 50ms;
  turn_until({&first_}, [until] { return std::chrono::steady_clock::now() >= until; });
  EXPECT_EQ(alive_, before);
  EXPECT_EQ(stuck_, std::vector<std::size_t>{1});
}

TEST_F(LoopWatchTest, SignsOfLifeGoOnWhenTheLoopDoes) {
  turn_until({}, [this] { return !stuck_.empty(); });
  EXPECT_EQ(stuck_, std::vector<std::size_t>{2});
  EXPECT_EQ(alive_, 0);
  turn_until({&first_, &second_}, [this] { return alive_ >= 3; });
  EXPECT_EQ(stuck_.size(), 1u);
}

}  // namespace
}  // namespace sluice::service
