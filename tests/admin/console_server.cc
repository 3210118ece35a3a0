// The console alone behind a TCP socket, over the fake router, for console_drivers.py: no TLS, everybody is
// let in, users named "stats" may only look. Prints its port and ends when its standard input does.

#include <array>
#include <cstdio>
#include <exception>

#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/this_coro.hpp>
#include <unistd.h>

#include "admin/console.h"
#include "net/listener.h"
#include "net/task_group.h"
#include "tests/admin/fake_router_view.h"

namespace {

using namespace sluice;

constexpr std::uint32_t kSslRequest = 80877103;
constexpr std::uint32_t kGssEncRequest = 80877104;

// The body of the StartupMessage, after refusing encryption.
asio::awaitable<Bytes> read_startup(net::Stream& stream) {
  while (true) {
    Bytes header(8);
    if (!co_await stream.read_exactly(header)) co_return Bytes{};
    ByteReader reader(header);
    const std::uint32_t length = *reader.u32();
    const std::uint32_t code = *reader.u32();
    if (code != kSslRequest && code != kGssEncRequest) {
      Bytes body(length < 8 || length > 10'000 ? 0 : length - 8);
      if (!co_await stream.read_exactly(body)) co_return Bytes{};
      co_return body;
    }
    if (!co_await stream.write_all(as_bytes("N"))) co_return Bytes{};
  }
}

admin::ConsoleSession::Settings settings_of(const Bytes& startup) {
  admin::ConsoleSession::Settings settings;
  ByteReader reader(startup);
  for (auto name = reader.cstring(); name && !name->empty(); name = reader.cstring()) {
    const auto value = reader.cstring();
    if (!value) break;
    if (*name == "user") settings.user = *value;
    if (*name == "database") settings.database = *value;
    if (*name == "application_name") settings.application_name = *value;
  }
  settings.privilege = settings.user == "stats" ? admin::Privilege::Stats : admin::Privilege::Admin;
  return settings;
}

asio::awaitable<void> serve(net::Socket socket) {
  co_await asio::this_coro::throw_if_cancelled(false);
  net::Stream stream(std::move(socket));
  const Bytes startup = co_await read_startup(stream);
  if (startup.empty()) co_return;
  admin::testing::FakeRouterView router;
  router.snapshot.pools.assign(5000, router.snapshot.pools[0]);  // more than one buffer of rows
  admin::ConsoleSession session(router, settings_of(startup), [] {});
  constexpr std::array<unsigned char, 9> kAuthenticationOk{'R', 0, 0, 0, 8, 0, 0, 0, 0};
  if (!co_await stream.write_all(std::as_bytes(std::span(kAuthenticationOk)))) co_return;
  session.start();
  std::array<std::byte, 4096> room{};
  while (true) {
    for (Bytes out = session.take_output(); !out.empty(); out = session.take_output())
      if (!co_await stream.write_all(out)) co_return;
    if (session.closed()) co_return;
    const auto read = co_await stream.read_some(room);
    if (!read || *read == 0) co_return;
    session.feed(ByteView(room).first(*read));
  }
}

asio::awaitable<void> accept(net::Listener& listener, net::TaskGroup& tasks) {
  co_await asio::this_coro::throw_if_cancelled(false);
  while (true) {
    auto socket = co_await listener.accept();
    if (!socket) co_return;
    tasks.spawn("console", serve(std::move(*socket)));
  }
}

}  // namespace

int main() {
  asio::io_context io(1);
  net::ListenerSettings settings;
  settings.address = "127.0.0.1";
  std::string problem;
  auto listeners = net::Listener::open(io.get_executor(), settings, problem);
  if (!listeners) {
    std::fprintf(stderr, "%s\n", problem.c_str());
    return 1;
  }
  net::TaskGroup tasks(io.get_executor());
  tasks.spawn("accept", accept(listeners->front(), tasks));
  std::printf("%u\n", listeners->front().port());
  std::fflush(stdout);
  asio::posix::stream_descriptor input(io, ::dup(STDIN_FILENO));
  input.async_wait(asio::posix::stream_descriptor::wait_read, [&](std::error_code) {
    listeners->front().close();
    asio::co_spawn(io, tasks.stop(), [](const std::exception_ptr& failure) {
      if (failure) std::rethrow_exception(failure);
    });
  });
  io.run();
  return 0;
}
