#include "net/resolve.h"

#include <csignal>
#include <cstdint>
#include <string>
#include <utility>

#include <asio/awaitable.hpp>
#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>
#include <asio/use_future.hpp>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <netdb.h>

namespace {

sigset_t mask_of_lookup;  // of the thread that asked the system's resolver last

}  // namespace

// Stands before the system's own, and passes on.
extern "C" int getaddrinfo(const char* node, const char* service, const addrinfo* hints, addrinfo** result) {
  ::pthread_sigmask(SIG_SETMASK, nullptr, &mask_of_lookup);
  static const auto next = reinterpret_cast<decltype(&::getaddrinfo)>(::dlsym(RTLD_NEXT, "getaddrinfo"));
  return next(node, service, hints, result);
}

namespace sluice::net {
namespace {

using namespace std::chrono_literals;

asio::awaitable<void> ask(std::uint16_t& port) {
  std::string host = "localhost";
  const auto found = co_await resolve(std::move(host), 5432, 60s);
  if (found) port = found->front().port();
}

// Was: a signal that came when the process had given up its handlers was taken by such a thread, and ended
// it.
TEST(Resolve, LooksUpOnAThreadThatTakesNoSignal) {
  ::sigemptyset(&mask_of_lookup);
  asio::io_context io;
  std::uint16_t port = 0;
  auto asked = asio::co_spawn(io, ask(port), asio::use_future);
  io.run();
  asked.get();
  EXPECT_EQ(port, 5432);
  sigset_t mine;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &mine);
  for (const int signal : {SIGHUP, SIGTERM, SIGINT, SIGUSR1}) {
    EXPECT_EQ(::sigismember(&mask_of_lookup, signal), 1) << signal;
    EXPECT_EQ(::sigismember(&mine, signal), 0) << signal << ": who asks takes them as before";
  }
}

}  // namespace
}  // namespace sluice::net
