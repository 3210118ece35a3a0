#pragma once

#include <functional>
#include <memory>
#include <system_error>

#include <asio/io_context.hpp>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/buffer_pool.h"
#include "net/ring.h"
#include "tests/net/net_test_support.h"

namespace sluice::net::test {

// A connected pair, non-blocking.
struct Sockets {
  Sockets() {
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) != 0) ends[0] = ends[1] = -1;
  }
  Sockets(const Sockets&) = delete;
  Sockets& operator=(const Sockets&) = delete;
  ~Sockets() {
    for (const int fd : ends)
      if (fd >= 0) ::close(fd);
  }
  int ends[2];
};

class OnARing : public testing::Test {
 protected:
  void SetUp() override {
    std::error_code why;
    ring = Ring::open(io, buffers, why);
    if (!ring) GTEST_SKIP() << "no io_uring here: " << why.message();
  }
  void run_until(const std::function<bool()>& done) { test::run_until(io, done); }
  void close(RingPort& port) {
    bool closed = false;
    port.close([&] { closed = true; });
    run_until([&] { return closed; });
  }

  asio::io_context io{1};
  BufferPool buffers;
  std::unique_ptr<Ring> ring;
};

}  // namespace sluice::net::test
