#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sluice/rng.h"

#include "base/bytes.h"
#include "tests/net/ring_test_support.h"

namespace sluice::net {
namespace {

using test::Sockets;

class SendingOnARing : public test::OnARing {
 protected:
  // What has arrived at that end by now, up to `most` bytes.
  static std::string arrived(int fd, std::size_t most = std::string::npos) {
    std::string all;
    char block[1000];
    while (all.size() < most) {
      const ssize_t count = ::recv(fd, block, std::min(sizeof(block), most - all.size()), MSG_DONTWAIT);
      if (count <= 0) break;
      all.append(block, static_cast<std::size_t>(count));
    }
    return all;
  }
  static bool at_end(int fd) {
    char byte = 0;
    return ::recv(fd, &byte, 1, MSG_DONTWAIT) == 0;
  }
  // Fills the socket's buffer with what is not counted below.
  static std::size_t fill(int fd) {
    const std::string block(1 << 14, '-');
    std::size_t filled = 0;
    for (std::size_t size = block.size(); size > 0;) {
      const ssize_t count = ::send(fd, block.data(), size, MSG_DONTWAIT | MSG_NOSIGNAL);
      if (count > 0)
        filled += static_cast<std::size_t>(count);
      else
        size /= 2;
    }
    return filled;
  }
  static void expect_taken(const IoOutcome& outcome, std::size_t count) {
    EXPECT_EQ(outcome.status, IoStatus::Ok);
    EXPECT_EQ(outcome.bytes, count);
  }
  // Runs the loop, which nothing else wakes, until that end has so many bytes or its end, or for some
  // seconds.
  std::string read_meanwhile(int fd, std::size_t count) {
    std::string all;
    std::thread reader([&] {
      pollfd polled{fd, POLLIN, 0};
      while (all.size() < count && ::poll(&polled, 1, 3000) == 1) {
        const std::string more = arrived(fd, count - all.size());
        if (more.empty()) break;
        all += more;
      }
      io.stop();
    });
    io.run();
    reader.join();
    io.restart();
    return all;
  }
  // One turn: what is asked for is handed in, what comes at once is told.
  void turn() { io.poll(); }

  Sockets sockets;
};

TEST_F(SendingOnARing, WhatWasTakenGoesOutWithTheNextTurnInOrder) {
  RingPort port(*ring, sockets.ends[0]);
  expect_taken(port.try_send(as_bytes("one ")), 4);
  expect_taken(port.try_send(as_bytes("two ")), 4);
  expect_taken(port.try_send(as_bytes("three")), 5);
  EXPECT_EQ(arrived(sockets.ends[1]), "");
  run_until(
      [&, all = std::string()]() mutable { return (all += arrived(sockets.ends[1])) == "one two three"; });
  expect_taken(port.try_send({}), 0);
  close(port);
}

TEST_F(SendingOnARing, SocketsOfOneTurnAllSend) {
  constexpr std::size_t kPorts = 300;  // more than the ring holds requests for, and bytes
  const std::string message(400, 'm');
  const auto pairs = std::make_unique<Sockets[]>(kPorts);
  std::vector<std::unique_ptr<RingPort>> ports;
  for (std::size_t i = 0; i < kPorts; ++i) {
    ASSERT_GE(pairs[i].ends[0], 0);
    ports.push_back(std::make_unique<RingPort>(*ring, pairs[i].ends[0]));
    expect_taken(ports.back()->try_send(as_bytes(message)), message.size());
  }
  std::size_t whole = 0;
  run_until([&] {
    while (whole < kPorts && arrived(pairs[whole].ends[1]) == message)
      ++whole;
    return whole == kPorts;
  });
  EXPECT_EQ(whole, kPorts);
  for (auto& port : ports)
    close(*port);
}

TEST_F(SendingOnARing, LongMessagesGoStraightAwayButNotBeforeWhatWaits) {
  RingPort port(*ring, sockets.ends[0]);
  const std::string longer(RingPort::kSendBytes + 1, 'l');
  expect_taken(port.try_send(as_bytes(longer)), longer.size());
  EXPECT_EQ(arrived(sockets.ends[1]), longer);

  const std::string longest(RingPort::kQueueBytes + 1, 'L');
  expect_taken(port.try_send(as_bytes("short")), 5);
  EXPECT_EQ(port.try_send(as_bytes(longest)).status, IoStatus::WouldBlock);
  bool writable = false;
  port.wait_writable([&](std::error_code ec) {
    EXPECT_FALSE(ec);
    writable = true;
    EXPECT_EQ(arrived(sockets.ends[1]), "short");
    expect_taken(port.try_send(as_bytes(longest)), longest.size());
  });
  run_until([&] { return writable; });
  EXPECT_EQ(arrived(sockets.ends[1]), longest);
  close(port);
}

TEST_F(SendingOnARing, WhatAFullSocketDoesNotTakeIsSentByItself) {
  RingPort port(*ring, sockets.ends[0]);
  const std::size_t filled = fill(sockets.ends[0]);
  expect_taken(port.try_send(as_bytes("kept")), 4);
  turn();
  EXPECT_EQ(port.try_send(as_bytes("more")).status, IoStatus::WouldBlock);
  bool writable = false;
  port.wait_writable([&](std::error_code) { writable = true; });
  turn();
  EXPECT_FALSE(writable);

  EXPECT_EQ(arrived(sockets.ends[1], filled).size(), filled);
  run_until([&] { return writable; });
  EXPECT_EQ(arrived(sockets.ends[1]), "kept");
  expect_taken(port.try_send(as_bytes("more")), 4);
  turn();
  EXPECT_EQ(arrived(sockets.ends[1]), "more");
  close(port);
}

TEST_F(SendingOnARing, WhatComesBehindASendDoesNotWaitForAnotherEvent) {
  RingPort port(*ring, sockets.ends[0]);
  expect_taken(port.try_send(as_bytes("one ")), 4);
  expect_taken(port.try_send(as_bytes("two ")), 4);
  EXPECT_EQ(read_meanwhile(sockets.ends[1], 8), "one two ");

  const std::string longest(RingPort::kQueueBytes + 1, 'L');
  expect_taken(port.try_send(as_bytes("three ")), 6);
  EXPECT_EQ(port.try_send(as_bytes(longest)).status, IoStatus::WouldBlock);
  port.wait_writable(
      [&](std::error_code) { expect_taken(port.try_send(as_bytes(longest)), longest.size()); });
  EXPECT_EQ(read_meanwhile(sockets.ends[1], 6 + longest.size()), "three " + longest);

  const std::size_t filled = fill(sockets.ends[0]);
  expect_taken(port.try_send(as_bytes("four")), 4);
  EXPECT_EQ(read_meanwhile(sockets.ends[1], filled + 4).substr(filled), "four");

  expect_taken(port.try_send(as_bytes("end")), 3);
  port.shutdown_send();
  EXPECT_EQ(read_meanwhile(sockets.ends[1], 4), "end");
  EXPECT_TRUE(at_end(sockets.ends[1]));
  close(port);
}

TEST_F(SendingOnARing, AFailureIsToldByTheNextCall) {
  RingPort port(*ring, sockets.ends[0]);
  ASSERT_EQ(::shutdown(sockets.ends[1], SHUT_RD), 0);
  expect_taken(port.try_send(as_bytes("lost")), 4);
  turn();
  const IoOutcome outcome = port.try_send(as_bytes("also"));
  EXPECT_EQ(outcome.status, IoStatus::Failed);
  EXPECT_EQ(outcome.error, std::errc::broken_pipe);
  bool told = false;
  port.wait_writable([&](std::error_code) { told = true; });
  run_until([&] { return told; });
  close(port);
  EXPECT_TRUE(port.send_failed());
  EXPECT_TRUE(port.take_unsent().empty());
}

TEST_F(SendingOnARing, ClosingSendsWhatWasTaken) {
  RingPort port(*ring, sockets.ends[0]);
  expect_taken(port.try_send(as_bytes("last ")), 5);
  expect_taken(port.try_send(as_bytes("words")), 5);
  close(port);
  EXPECT_EQ(arrived(sockets.ends[1]), "last words");
  EXPECT_TRUE(port.take_unsent().empty());
  EXPECT_EQ(port.try_send(as_bytes("late")).status, IoStatus::Failed);
}

TEST_F(SendingOnARing, AfterClosingWhatWasNotSentIsThere) {
  RingPort port(*ring, sockets.ends[0]);
  const std::size_t filled = fill(sockets.ends[0]);
  expect_taken(port.try_send(as_bytes("not ")), 4);
  expect_taken(port.try_send(as_bytes("sent")), 4);
  close(port);
  const Bytes left = port.take_unsent();
  EXPECT_EQ(as_text(left), "not sent");
  EXPECT_FALSE(port.send_failed());
  EXPECT_EQ(arrived(sockets.ends[1]).size(), filled);
}

TEST_F(SendingOnARing, TheEndOfADirectionComesBehindWhatWasTaken) {
  RingPort port(*ring, sockets.ends[0]);
  const std::size_t filled = fill(sockets.ends[0]);
  expect_taken(port.try_send(as_bytes("bye")), 3);
  port.shutdown_send();
  turn();
  EXPECT_EQ(arrived(sockets.ends[1], filled).size(), filled);
  std::string rest;
  run_until([&] { return (rest += arrived(sockets.ends[1])) == "bye" && at_end(sockets.ends[1]); });
  EXPECT_EQ(rest, "bye");
  close(port);

  Sockets others;
  RingPort silent(*ring, others.ends[0]);
  silent.shutdown_send();
  EXPECT_TRUE(at_end(others.ends[1]));
  close(silent);
}

// The stream that reads back is the stream that was taken, whatever the sizes, and however slow the reader.
TEST_F(SendingOnARing, NothingIsLostOrReordered) {
  const int small = 1;  // the kernel makes it its least
  ASSERT_EQ(::setsockopt(sockets.ends[0], SOL_SOCKET, SO_SNDBUF, &small, sizeof(small)), 0);
  RingPort port(*ring, sockets.ends[0]);
  Rng rng(20260101);
  std::string taken, read;
  bool waits = false;
  for (int step = 0; step < 4000; ++step) {
    if (!waits && rng.below(3) > 0) {
      std::string message(1 + rng.below(rng.below(10) == 0 ? 20'000 : 600), ' ');
      for (char& c : message)
        c = static_cast<char>('a' + rng.below(26));
      const IoOutcome outcome = port.try_send(as_bytes(message));
      ASSERT_NE(outcome.status, IoStatus::Failed);
      taken += message.substr(0, outcome.bytes);
      if (outcome.status == IoStatus::WouldBlock) {
        waits = true;
        port.wait_writable([&](std::error_code) { waits = false; });
      }
    }
    if (rng.below(2) == 0) turn();
    if (rng.below(4) == 0) read += arrived(sockets.ends[1], 1 + rng.below(3000));
  }
  bool closed = false;
  port.close([&] { closed = true; });
  run_until([&] { return closed; });
  read += arrived(sockets.ends[1]);
  const Bytes rest = port.take_unsent();
  EXPECT_GT(taken.size(), 100'000U);
  EXPECT_EQ(read + std::string(as_text(rest)), taken);
}

TEST_F(SendingOnARing, AStreamThatLostBytesDoesNotComeBack) {
  auto [near, far] = test::unix_pair(io.get_executor());
  std::optional<RingPort> port;
  move_to_ring(*ring, near, port);
  ASSERT_TRUE(port);
  fill(near.native_handle());
  expect_taken(port->try_send(as_bytes("lost")), 4);
  close(*port);
  leave_ring(port, near);
  EXPECT_FALSE(near.is_open());
}

TEST_F(SendingOnARing, AStreamThatSentAllComesBack) {
  auto [near, far] = test::unix_pair(io.get_executor());
  std::optional<RingPort> port;
  move_to_ring(*ring, near, port);
  ASSERT_TRUE(port);
  expect_taken(port->try_send(as_bytes("all")), 3);
  close(*port);
  leave_ring(port, near);
  EXPECT_TRUE(near.is_open());
  EXPECT_EQ(near.try_write(as_bytes(" sent")).status, IoStatus::Ok);
  EXPECT_EQ(arrived(far.native_handle()), "all sent");
}

}  // namespace
}  // namespace sluice::net
