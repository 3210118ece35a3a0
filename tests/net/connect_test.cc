#include "net/connect.h"

#include <filesystem>

#include <asio/local/stream_protocol.hpp>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"
#include "net/deadline.h"
#include "net/listener.h"
#include "net/net_error.h"
#include "net/resolve.h"
#include "net/socket_address.h"
#include "net/tcp_round_trip.h"
#include "tests/net/net_test_support.h"

namespace sluice::net {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

int option(Socket& socket, int level, int name) {
  int value = -1;
  socklen_t size = sizeof value;
  ::getsockopt(socket.native_handle(), level, name, &value, &size);
  return value;
}

class Connecting : public testing::Test {
 protected:
  std::vector<Listener> listen(ListenerSettings settings) {
    auto made = Listener::open(io.get_executor(), settings, problem);
    EXPECT_TRUE(made) << problem;
    return made ? *std::move(made) : std::vector<Listener>();
  }
  Result<Stream> reach(ConnectTarget target, milliseconds timeout = seconds(20), SocketOptions options = {}) {
    std::optional<Result<Stream>> result;
    test::run(io,
              [](ConnectTarget t, milliseconds limit, SocketOptions o,
                 std::optional<Result<Stream>>& out) -> asio::awaitable<void> {
                out.emplace(co_await connect(std::move(t), limit, o));
              }(std::move(target), timeout, options, result));
    return *std::move(result);
  }
  Result<Socket> next(Listener& listener) {
    std::optional<Result<Socket>> result;
    test::run(io, [](Listener& l, std::optional<Result<Socket>>& out) -> asio::awaitable<void> {
      out.emplace(co_await l.accept());
    }(listener, result));
    return *std::move(result);
  }
  // A listening socket whose queue is full, so that connecting to it gets no answer.
  std::vector<Stream> clog(Listener& listener) {
    std::vector<Stream> queued;
    while (true) {
      Result<Stream> one = reach({"127.0.0.1", listener.port()}, milliseconds(50));
      if (!one) return queued;
      queued.push_back(*std::move(one));
    }
  }

  asio::io_context io{1};
  std::string problem;
};

TEST_F(Connecting, ReachesAListenerByAddressAndByName) {
  auto listeners = listen({.address = "127.0.0.1"});
  ASSERT_EQ(listeners.size(), 1u);
  EXPECT_EQ(listeners[0].address(), "127.0.0.1:" + std::to_string(listeners[0].port()));
  for (const char* host : {"127.0.0.1", "localhost"}) {
    Result<Stream> client = reach({host, listeners[0].port()});
    ASSERT_TRUE(client) << client.error().code.message();
    EXPECT_EQ(client->side(), Side::Server);
    Result<Socket> server = next(listeners[0]);
    ASSERT_TRUE(server);
    EXPECT_EQ(peer_address(server->native_handle()), local_address(client->native_handle()));
    EXPECT_EQ(to_string(local_address(server->native_handle())), listeners[0].address());
    EXPECT_FALSE(client->has_pending_or_eof());
  }
}

TEST_F(Connecting, SetsTheOptionsOnBothEnds) {
  SocketOptions options;
  options.keepalive_idle = seconds(33);
  options.keepalive_interval = seconds(7);
  options.keepalive_count = 4;
  options.user_timeout = milliseconds(12'345);
  auto listeners = listen({.address = "127.0.0.1", .options = options});
  Result<Stream> client = reach({"127.0.0.1", listeners[0].port()}, seconds(20), options);
  ASSERT_TRUE(client);
  Result<Socket> server = next(listeners[0]);
  ASSERT_TRUE(server);
  for (Socket* socket : {&client->socket(), &*server}) {
    EXPECT_EQ(option(*socket, IPPROTO_TCP, TCP_NODELAY), 1);
    EXPECT_EQ(option(*socket, SOL_SOCKET, SO_KEEPALIVE), 1);
    EXPECT_EQ(option(*socket, IPPROTO_TCP, TCP_KEEPIDLE), 33);
    EXPECT_EQ(option(*socket, IPPROTO_TCP, TCP_KEEPINTVL), 7);
    EXPECT_EQ(option(*socket, IPPROTO_TCP, TCP_KEEPCNT), 4);
    EXPECT_EQ(option(*socket, IPPROTO_TCP, TCP_USER_TIMEOUT), 12'345);
  }
  const auto round_trip = tcp_round_trip(client->socket().native_handle());
  ASSERT_TRUE(round_trip);
  EXPECT_GT(round_trip->smoothed.count(), 0);
  EXPECT_LE(round_trip->minimum, round_trip->smoothed);
}

TEST_F(Connecting, ReportsARefusal) {
  std::uint16_t port = 0;
  {
    const auto gone = listen({.address = "127.0.0.1"});
    port = gone[0].port();
  }
  const Result<Stream> client = reach({"127.0.0.1", port});
  ASSERT_FALSE(client);
  EXPECT_EQ(client.error().code, std::errc::connection_refused);
  EXPECT_EQ(client.error().side, Side::Server);
  EXPECT_EQ(client.error().retry, Retry::Yes);
}

TEST_F(Connecting, GivesUpOnASilentHostAtItsTimeout) {  // B71
  auto listeners = listen({.address = "127.0.0.1", .backlog = 1});
  const auto queued = clog(listeners[0]);
  const auto start = std::chrono::steady_clock::now();
  const Result<Stream> client = reach({"127.0.0.1", listeners[0].port()}, milliseconds(60));
  ASSERT_FALSE(client);
  EXPECT_EQ(client.error().code, BaseErrc::Timeout);
  EXPECT_GE(std::chrono::steady_clock::now() - start, milliseconds(60));
}

TEST_F(Connecting, ReportsNamesThatCannotBe) {
  // A label of more than 63 bytes: refused without asking a name server.
  for (const std::string& name : {std::string(), std::string(100, 'x')}) {
    const Result<Stream> client = reach({name, 5432});
    ASSERT_FALSE(client) << name;
    EXPECT_NE(client.error().code, BaseErrc::Timeout);
  }
  EXPECT_EQ(reach({"/" + std::string(200, 'x'), 5432}).error().code, NetErrc::BadAddress);
}

TEST_F(Connecting, LooksUpWithoutWaitingPastTheTimeout) {
  test::run(io, []() -> asio::awaitable<void> {
    const auto none = co_await resolve("localhost", 1, milliseconds(0));
    // Either the lookup was quicker than the timer, or it timed out; it never waits on.
    EXPECT_TRUE(none || none.error().code == BaseErrc::Timeout);
    const auto some = co_await resolve("localhost", 77, seconds(20));
    EXPECT_TRUE(some && !some->empty() && some->front().port() == 77);
  }());
}

TEST_F(Connecting, ReachesAUnixSocketByLibpqsRule) {
  std::string directory = (std::filesystem::temp_directory_path() / "sluice-unix-XXXXXX").string();
  ASSERT_NE(::mkdtemp(directory.data()), nullptr);
  const std::string path = directory + "/.s.PGSQL.6543";
  {
    auto listeners = listen({.address = path});
    EXPECT_EQ(listeners[0].address(), "unix:" + path);
    for (const ConnectTarget& target : {ConnectTarget{directory, 6543}, ConnectTarget{path, 0}}) {
      Result<Stream> client = reach(target);
      ASSERT_TRUE(client);
      Result<Socket> server = next(listeners[0]);
      ASSERT_TRUE(server);
      EXPECT_TRUE(peer_address(server->native_handle()).is_unix);
      EXPECT_EQ(to_string(peer_address(client->native_handle())), "unix:" + path);
      EXPECT_FALSE(tcp_round_trip(client->socket().native_handle()));
    }
    EXPECT_FALSE(Listener::open(io.get_executor(), {.address = path}, problem)) << "still in use";
  }
  EXPECT_FALSE(std::filesystem::exists(path));
  { const asio::local::stream_protocol::acceptor killed(io, path); }  // leaves its file behind
  EXPECT_TRUE(std::filesystem::exists(path));
  EXPECT_TRUE(Listener::open(io.get_executor(), {.address = path}, problem)) << problem;
  std::filesystem::remove_all(directory);
}

TEST_F(Connecting, SharesAUnixSocketWhoseFileGoesWithItsFirstListener) {
  std::string directory = (std::filesystem::temp_directory_path() / "sluice-unix-XXXXXX").string();
  ASSERT_NE(::mkdtemp(directory.data()), nullptr);
  const std::string path = directory + "/socket";
  auto listeners = listen({.address = path});
  EXPECT_TRUE(listeners[0].is_unix());
  {
    Result<Listener> second = listeners[0].share(io.get_executor());
    ASSERT_TRUE(second);
    EXPECT_TRUE(second->is_unix());
    EXPECT_EQ(second->address(), "unix:" + path);
    const Result<Stream> client = reach({path, 0});
    ASSERT_TRUE(client);
    EXPECT_TRUE(next(*second)) << "either has the connection";
  }
  EXPECT_TRUE(std::filesystem::exists(path)) << "the first still listens";
  EXPECT_TRUE(reach({path, 0}));
  listeners.clear();
  EXPECT_FALSE(std::filesystem::exists(path));
  std::filesystem::remove_all(directory);
}

TEST_F(Connecting, SaysThatAFolderIsNoSocketFile) {
  const std::string folder = std::filesystem::temp_directory_path().string();
  const auto opened = Listener::open(io.get_executor(), {.address = folder}, problem);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, NetErrc::BadAddress);
  EXPECT_NE(problem.find("'" + folder + "': it is a folder"), std::string::npos) << problem;
}

TEST_F(Connecting, ListensOnAllAddressesWithOnePort) {
  auto all = listen({.address = "*"});
  ASSERT_GE(all.size(), 1u);
  for (Listener& listener : all)
    EXPECT_EQ(listener.port(), all[0].port());
  EXPECT_TRUE(reach({"127.0.0.1", all[0].port()}));
  if (all.size() > 1) {
    EXPECT_TRUE(reach({"::1", all[0].port()}));
    EXPECT_EQ(peer_address(next(all[1])->native_handle()).address, "::1");
  }
}

TEST_F(Connecting, SharesAPortAmongListenersAndSaysWhyItCannot) {
  auto first = listen({.address = "127.0.0.1"});
  const std::uint16_t port = first[0].port();
  EXPECT_TRUE(Listener::open(io.get_executor(), {.address = "127.0.0.1", .port = port}, problem));
  ListenerSettings alone{.address = "127.0.0.1", .port = port};
  alone.reuse_port = false;
  EXPECT_FALSE(Listener::open(io.get_executor(), alone, problem));
  EXPECT_EQ(problem, "cannot listen on 127.0.0.1:" + std::to_string(port) +
                         ": Address already in use (another process listens there: stop it, or choose "
                         "another address or port)");
  EXPECT_FALSE(Listener::open(io.get_executor(), {.address = "192.0.2.1"}, problem));
  EXPECT_EQ(
      problem,
      "cannot listen on 192.0.2.1:0: Cannot assign requested address (this machine has no such address)");
  const std::string impossible(100, 'x');
  EXPECT_FALSE(Listener::open(io.get_executor(), {.address = impossible}, problem));
  EXPECT_TRUE(problem.starts_with("cannot listen on '" + impossible + "': ")) << problem;
}

TEST_F(Connecting, EndsAcceptingWhenClosed) {
  auto listeners = listen({.address = "127.0.0.1"});
  std::optional<Result<Socket>> result;
  test::run(
      io,
      [](Listener& l, std::optional<Result<Socket>>& out) -> asio::awaitable<void> {
        out.emplace(co_await l.accept());
      }(listeners[0], result),
      [](Listener& l) -> asio::awaitable<void> {
        l.close();
        co_return;
      }(listeners[0]));
  ASSERT_FALSE(*result);
  EXPECT_EQ(result->error().code, BaseErrc::Cancelled);
}

TEST_F(Connecting, AcceptsAgainAfterDescriptorsRanOut) {
  auto listeners = listen({.address = "127.0.0.1"});
  Result<Stream> client = reach({"127.0.0.1", listeners[0].port()});
  ASSERT_TRUE(client);
  rlimit before{};
  ::getrlimit(RLIMIT_NOFILE, &before);
  const int next_fd = ::dup(0);
  ::close(next_fd);
  rlimit none = before;
  none.rlim_cur = static_cast<rlim_t>(next_fd);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  const Deadline relief(io.get_executor(), milliseconds(30), [&] { ::setrlimit(RLIMIT_NOFILE, &before); });
  const Result<Socket> server = next(listeners[0]);
  ::setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_TRUE(server);
  EXPECT_GE(listeners[0].exhaustions(), 1u);
  EXPECT_LE(listeners[0].exhaustions(), 5u) << "no busy loop";
}

TEST(SocketAddress, PrintsAddressesAsPeopleWriteThem) {
  EXPECT_EQ(to_string(SocketAddress{"10.0.0.1", 5432, false}), "10.0.0.1:5432");
  EXPECT_EQ(to_string(SocketAddress{"::1", 5432, false}), "[::1]:5432");
  EXPECT_EQ(to_string(SocketAddress{"", 0, true}), "unix");
  EXPECT_EQ(to_string(SocketAddress{"/run/x", 0, true}), "unix:/run/x");
  asio::io_context io(1);
  EXPECT_EQ(peer_address(-1), SocketAddress{});
}

}  // namespace
}  // namespace sluice::net
