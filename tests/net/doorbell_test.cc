#include "net/doorbell.h"

#include <cstdint>
#include <optional>
#include <thread>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

namespace sluice::net {
namespace {

void ring(int fd) {
  const std::uint64_t one = 1;
  ASSERT_EQ(::write(fd, &one, sizeof one), static_cast<ssize_t>(sizeof one));
}

struct Counted {
  Counted() {
    std::error_code why;
    bell = Doorbell::open(
        io,
        [this] {
          ++calls;
          if (calls == end_after) bell.reset();
        },
        why);
    EXPECT_TRUE(bell) << why.message();
    io.poll();
    EXPECT_EQ(calls, 1) << "once without a ring";
  }

  asio::io_context io{1};
  std::unique_ptr<Doorbell> bell;
  int calls = 0;
  int end_after = 0;
};

TEST(Doorbell, IsHeardOnceForRingsInARowAndAgainLater) {
  Counted counted;
  counted.io.poll();
  EXPECT_EQ(counted.calls, 1);
  for (int i = 0; i < 3; ++i)
    ring(counted.bell->fd());
  counted.io.poll();
  EXPECT_EQ(counted.calls, 2);
  counted.io.poll();
  EXPECT_EQ(counted.calls, 2);
  ring(counted.bell->fd());
  counted.io.poll();
  EXPECT_EQ(counted.calls, 3);
}

TEST(Doorbell, WakesALoopThatWaits) {
  Counted counted;
  counted.end_after = 2;
  std::thread other([fd = counted.bell->fd()] { ring(fd); });
  counted.io.run();  // ends with the bell, which is its only work
  other.join();
  EXPECT_EQ(counted.calls, 2);
}

TEST(Doorbell, RungWithinItsOwnCallIsHeardAgain) {
  asio::io_context io(1);
  std::unique_ptr<Doorbell> bell;
  int calls = 0;
  std::error_code why;
  bell = Doorbell::open(
      io,
      [&] {
        if (++calls < 5) return ring(bell->fd());
        bell.reset();
      },
      why);
  ASSERT_TRUE(bell);
  io.run();
  EXPECT_EQ(calls, 5);
}

TEST(Doorbell, IsSilentOnceDestroyed) {
  Counted counted;
  ring(counted.bell->fd());
  counted.bell.reset();
  counted.io.run();
  EXPECT_EQ(counted.calls, 1);
}

TEST(Doorbell, MayEndWithTheLoopUnrun) {
  asio::io_context io(1);
  std::error_code why;
  const auto bell = Doorbell::open(
      io, [] { FAIL(); }, why);
  EXPECT_TRUE(bell);
}

TEST(Doorbell, SaysThatDescriptorsAreGone) {
  asio::io_context io(1);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{.rlim_cur = 0, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  std::error_code why;
  const auto bell = Doorbell::open(
      io, [] {}, why);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_FALSE(bell);
  EXPECT_EQ(why, std::errc::too_many_files_open);
}

}  // namespace
}  // namespace sluice::net
