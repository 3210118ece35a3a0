#include "cluster/patroni_watch.h"

#include <array>
#include <functional>
#include <memory>

#include <gtest/gtest.h>

#include "net/listener.h"
#include "tests/net/net_test_support.h"

namespace sluice::cluster {
namespace {

using namespace std::chrono_literals;

std::string view_of(const std::string& list) {
  return R"({"members": [)" + list + "]}";
}
const std::string kLeader = R"({"name": "n1", "host": "h", "role": "leader", "state": "running"})";

std::string http(const std::string& body, const std::string& status = "200 OK") {
  return "HTTP/1.0 " + status +
         "\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
         body;
}

// One address of Patroni: answers each question with `answer`; "" is silence.
struct Node {
  explicit Node(asio::io_context& io) {
    std::string problem;
    net::ListenerSettings settings;
    settings.address = "127.0.0.1";
    settings.reuse_port = false;
    auto opened = net::Listener::open(io.get_executor(), settings, problem);
    EXPECT_TRUE(opened) << problem;
    listeners = *std::move(opened);
    port = listeners[0].port();
  }
  mirror::Source source() const { return {"127.0.0.1", port, "/cluster"}; }

  std::vector<net::Listener> listeners;
  std::uint16_t port = 0;
  std::string answer;
  std::string asked;
  int questions = 0;
  std::vector<std::unique_ptr<net::Stream>> open;
};

asio::awaitable<void> serve(Node& node) {
  for (;;) {
    auto socket = co_await node.listeners[0].accept();
    if (!socket) co_return;
    auto stream = std::make_unique<net::Stream>(*std::move(socket));
    std::array<std::byte, 4096> room;
    const auto read = co_await stream->read_some(room);
    if (read) node.asked = as_text(ByteView(room).first(*read));
    ++node.questions;
    const std::string bytes = node.answer;
    if (bytes.empty()) {
      node.open.push_back(std::move(stream));
    } else {
      (void)co_await stream->write_all(as_bytes(bytes));
    }
  }
}

class PatroniWatchTest : public testing::Test {
 protected:
  PatroniWatch::Settings settings() const {
    PatroniWatch::Settings made;
    made.from = {first.source(), second.source()};
    made.interval = 100ms;
    made.timeout = 100ms;
    return made;
  }
  // `script` runs beside the nodes, and everything ends with it.
  void play(std::function<asio::awaitable<void>()> script) {
    net::test::run(io, serve(first), serve(second), until_end(std::move(script)));
  }
  asio::awaitable<void> until_end(std::function<asio::awaitable<void>()> script) {
    co_await script();
    co_await watch.stop();
    first.listeners[0].close();
    second.listeners[0].close();
  }

  asio::io_context io{1};
  Node first{io}, second{io};
  std::vector<ClusterView> views;
  int problems = 0;
  PatroniWatch watch{io.get_executor(), [this](const ClusterView& view) { views.push_back(view); },
                     [this] { ++problems; }};
};

TEST_F(PatroniWatchTest, AsksForTheClusterAgainAndAgain) {
  first.answer = http(view_of(kLeader));
  play([this]() -> asio::awaitable<void> {
    watch.configure(settings());
    co_await net::test::until([&] { return views.size() == 3; });
  });
  EXPECT_TRUE(first.asked.starts_with("GET /cluster HTTP/1.1\r\n")) << first.asked;
  EXPECT_EQ(second.questions, 0);
  EXPECT_EQ(views[2].leader()->name, "n1");
  EXPECT_EQ(watch.status().problem, "");
  EXPECT_TRUE(watch.status().answered);
}

TEST_F(PatroniWatchTest, TriesTheNextAddressAndThenStaysWithIt) {
  first.answer = http("{}", "503 Service Unavailable");
  second.answer = http(view_of(kLeader));
  play([this]() -> asio::awaitable<void> {
    watch.configure(settings());
    co_await net::test::until([&] { return views.size() == 2; });
  });
  EXPECT_EQ(first.questions, 1);
  EXPECT_EQ(second.questions, 2);
  EXPECT_EQ(watch.status().source, second.source().authority());
  EXPECT_EQ(problems, 0);
}

TEST_F(PatroniWatchTest, SaysWhatEachAddressDidWrongAndGoesOnAsking) {
  first.answer = "";  // silent
  second.answer = http("[]");
  play([this]() -> asio::awaitable<void> {
    watch.configure(settings());
    co_await net::test::until([&] { return problems == 2; });
    EXPECT_EQ(watch.status().failed, 2U);
    EXPECT_NE(watch.status().problem.find("no whole answer in time"), std::string::npos);
    EXPECT_NE(watch.status().problem.find("lists no members"), std::string::npos);
    second.answer = http(view_of(kLeader));
    co_await net::test::until([&] { return !views.empty(); });
  });
  EXPECT_EQ(watch.status().problem, "");
}

TEST_F(PatroniWatchTest, AsksAtOnceWhenHurried) {
  first.answer = http(view_of(kLeader));
  play([this]() -> asio::awaitable<void> {
    PatroniWatch::Settings slow = settings();
    slow.interval = 1h;
    watch.configure(slow);
    co_await net::test::until([&] { return views.size() == 1; });
    watch.ask_now();
    co_await net::test::until([&] { return views.size() == 2; });
  });
  EXPECT_EQ(views.size(), 2U);
}

TEST_F(PatroniWatchTest, AsksNobodyWithoutAddressesAndBeginsAnewWithOthers) {
  first.answer = second.answer = http(view_of(kLeader));
  play([this]() -> asio::awaitable<void> {
    watch.configure({});
    watch.configure(settings());
    co_await net::test::until([&] { return !views.empty(); });
    watch.configure({});
    EXPECT_FALSE(watch.status().answered);
    PatroniWatch::Settings other = settings();
    other.from = {second.source()};
    watch.configure(other);
    co_await net::test::until([&] { return second.questions > 0 && watch.status().answered; });
  });
  EXPECT_EQ(watch.status().source, second.source().authority());
}

}  // namespace
}  // namespace sluice::cluster
