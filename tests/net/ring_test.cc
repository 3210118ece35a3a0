#include "net/ring.h"

#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <asio/posix/stream_descriptor.hpp>
#include <asio/post.hpp>
#include <asio/steady_timer.hpp>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/net/ring_test_support.h"

namespace sluice::net {
namespace {

using test::Sockets;

// The thread that made it, seen from another.
class LoopThread {
 public:
  void await_sleep() const {
    for (char state = 'R'; state != 'S'; std::this_thread::yield()) {
      std::string name;
      std::ifstream(path_) >> name >> name >> state;  // proc(5): number, (name), state
    }
  }

 private:
  const std::string path_ = "/proc/self/task/" + std::to_string(::gettid()) + "/stat";
};

class OnARing : public test::OnARing {
 protected:
  const LoopThread loop_thread;
};

// More completions at once than the queue holds: what the kernel keeps aside has to be fetched.
TEST_F(OnARing, AllPortsCloseHoweverManyDoAtOnce) {
  constexpr std::size_t kPorts = 2500;
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  limit.rlim_cur = limit.rlim_max;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
  if (limit.rlim_max < 2 * kPorts + 100) GTEST_SKIP() << "too few descriptors may be open";
  const auto sockets = std::make_unique<Sockets[]>(kPorts);
  std::vector<std::unique_ptr<RingPort>> ports;
  for (std::size_t i = 0; i < kPorts; ++i) {
    ASSERT_GE(sockets[i].ends[0], 0);
    ports.push_back(std::make_unique<RingPort>(*ring, sockets[i].ends[0]));
    ports.back()->receive([](std::error_code, PooledBuffer, std::size_t) { FAIL(); });
  }
  io.poll();
  std::size_t closed = 0;
  for (auto& port : ports)
    port->close([&closed] { ++closed; });
  run_until([&] { return closed == kPorts; });
  EXPECT_EQ(closed, kPorts);
}

// A turn of the port was due already when it was closed.
TEST_F(OnARing, APortIsClosedOnlyWhenTheKernelHasLetGo) {
  Sockets sockets, other;
  std::optional<RingPort> port;
  std::optional<RingPort> trigger;
  port.emplace(*ring, sockets.ends[0]);
  trigger.emplace(*ring, other.ends[0]);
  // Bytes that nobody asked for, and a wait for room that does not end.
  const std::vector<char> block(1 << 16);
  while (::send(sockets.ends[0], block.data(), block.size(), MSG_DONTWAIT) > 0) {
  }
  int received = 0;
  bool closed = false;
  port->receive([&](std::error_code, PooledBuffer, std::size_t) { ++received; });
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(::send(sockets.ends[1], "x", 1, 0), 1);
    run_until([&] { return received == 1; });
    io.poll();
  }
  port->wait_writable([](std::error_code) { FAIL(); });
  trigger->receive([&](std::error_code, PooledBuffer, std::size_t) {
    port->receive([&](std::error_code, PooledBuffer, std::size_t) { ++received; });
    port->close([&] {
      closed = true;
      port.reset();
    });
  });
  ASSERT_EQ(::send(other.ends[1], "x", 1, 0), 1);
  run_until([&] { return closed; });
  EXPECT_TRUE(closed);
  bool trigger_closed = false;
  trigger->close([&] { trigger_closed = true; });
  run_until([&] { return trigger_closed; });
  EXPECT_TRUE(trigger_closed);
}

// The thread waits on the ring: all that wakes an event loop has to wake it there.
TEST_F(OnARing, ALoopThatWaitsIsWokenByTimersPostsAndSockets) {
  Sockets silent;
  RingPort port(*ring, silent.ends[0]);
  port.receive([](std::error_code, PooledBuffer, std::size_t) { FAIL(); });
  Sockets other;
  asio::posix::stream_descriptor on_the_loop(io, ::dup(other.ends[0]));
  std::vector<std::string> told;
  asio::steady_timer timer(io, std::chrono::milliseconds(20));
  timer.async_wait([&](std::error_code) { told.emplace_back("timer"); });
  while (told.empty())
    io.run_one();

  std::thread poster([&] {
    loop_thread.await_sleep();
    asio::post(io, [&] { told.emplace_back("post"); });
  });
  while (told.size() < 2)
    io.run_one();
  poster.join();

  on_the_loop.async_wait(asio::posix::descriptor_base::wait_read,
                         [&](std::error_code) { told.emplace_back("socket"); });
  std::thread writer([&] {
    loop_thread.await_sleep();
    EXPECT_EQ(::write(other.ends[1], "x", 1), 1);
  });
  while (told.size() < 3)
    io.run_one();
  writer.join();
  EXPECT_EQ(told, (std::vector<std::string>{"timer", "post", "socket"}));

  close(port);
}

TEST_F(OnARing, WhatAHandlerPostsIsRun) {
  Sockets sockets;
  RingPort port(*ring, sockets.ends[0]);
  bool posted = false;
  port.receive([&](std::error_code, PooledBuffer, std::size_t) { asio::post(io, [&] { posted = true; }); });
  std::thread writer([&] {
    loop_thread.await_sleep();
    EXPECT_EQ(::write(sockets.ends[1], "x", 1), 1);
  });
  while (!posted)
    io.run_one();
  writer.join();
  close(port);
}

TEST_F(OnARing, AStoppedLoopWaitsNoMore) {
  Sockets sockets;
  RingPort port(*ring, sockets.ends[0]);
  port.receive([&](std::error_code, PooledBuffer, std::size_t) { io.stop(); });
  std::thread writer([&] {
    loop_thread.await_sleep();
    EXPECT_EQ(::write(sockets.ends[1], "x", 1), 1);
  });
  io.run();  // until a handler of the ring's stops it
  writer.join();

  io.restart();
  std::thread stopper([&] {
    loop_thread.await_sleep();
    io.stop();
  });
  io.run();  // until another thread does
  stopper.join();
  close(port);
}

// More than one look at epoll brings.
TEST_F(OnARing, AllSocketsOfTheLoopAreHeardHoweverManyAtOnce) {
  constexpr std::size_t kSockets = 400;
  Sockets silent;
  RingPort port(*ring, silent.ends[0]);
  port.receive([](std::error_code, PooledBuffer, std::size_t) { FAIL(); });
  const auto sockets = std::make_unique<Sockets[]>(kSockets);
  std::vector<asio::posix::stream_descriptor> watched;
  std::size_t heard = 0;
  for (std::size_t i = 0; i < kSockets; ++i) {
    watched.emplace_back(io, ::dup(sockets[i].ends[0]));
    watched.back().async_wait(asio::posix::descriptor_base::wait_read, [&](std::error_code) { ++heard; });
  }
  for (std::size_t i = 0; i < kSockets; ++i)
    ASSERT_EQ(::write(sockets[i].ends[1], "x", 1), 1);
  while (heard < kSockets)
    io.run_one();
  close(port);
}

// A ring that always has something must not keep the loop from its timers.
TEST_F(OnARing, TimersAreHeardBesideABusyRing) {
  Sockets sockets;
  RingPort port(*ring, sockets.ends[0]);
  std::function<void()> go_on = [&] {
    port.receive([&](std::error_code, PooledBuffer, std::size_t) { go_on(); });
    EXPECT_EQ(::write(sockets.ends[1], "x", 1), 1);
  };
  go_on();
  bool rung = false;
  asio::steady_timer timer(io, std::chrono::milliseconds(5));
  timer.async_wait([&](std::error_code) { rung = true; });
  while (!rung)
    io.run_one();
  close(port);
}

TEST_F(OnARing, AnotherLoopOnTheThreadWaitsForItself) {
  run_until([&] { return true; });
  bool first = false;
  asio::steady_timer here(io, std::chrono::milliseconds(1));
  here.async_wait([&](std::error_code) { first = true; });
  run_until([&] { return first; });
  asio::io_context inner{1};
  bool second = false;
  asio::steady_timer there(inner, std::chrono::milliseconds(1));
  there.async_wait([&](std::error_code) { second = true; });
  inner.run();
  EXPECT_TRUE(second);
}

}  // namespace
}  // namespace sluice::net
