#include "mirror/mirror.h"

#include <array>
#include <functional>

#include <gtest/gtest.h>

#include "net/listener.h"
#include "profile/json.h"
#include "shm/profile_reader.h"
#include "tests/config/temporary_folder.h"
#include "tests/net/net_test_support.h"
#include "tests/profile/sample.h"

namespace sluice::mirror {
namespace {

using namespace std::chrono_literals;

// A web server on loopback that answers each connection with what `answer` says, or with nothing.
class MirrorTest : public ::testing::Test {
 protected:
  MirrorTest() {
    std::string problem;
    net::ListenerSettings settings;
    settings.address = "127.0.0.1";
    settings.reuse_port = false;
    auto opened = net::Listener::open(io.get_executor(), settings, problem);
    EXPECT_TRUE(opened) << problem;
    listeners = *std::move(opened);
    source = {"127.0.0.1", listeners[0].port(), "/v1/profile"};
  }

  asio::awaitable<void> serve(int count) {
    for (int i = 0; i < count; ++i) {
      auto socket = co_await listeners[0].accept();
      if (!socket) co_return;
      net::Stream stream(*std::move(socket));
      std::array<std::byte, 4096> room;
      const auto read = co_await stream.read_some(room);
      if (read) asked = as_text(ByteView(room).first(*read));
      const std::string bytes = answer();
      if (bytes.empty()) {
        kept.push_back(std::move(stream));  // silent, but open
      } else {
        (void)co_await stream.write_all(as_bytes(bytes));
      }
    }
  }

  static std::string ok(const std::string& body) {
    return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
  }
  asio::awaitable<void> ask(FetchLimits limits, std::string* problem) {
    Source from = source;
    std::shared_ptr<const net::TlsContext> plain;
    const auto outcome = co_await fetch(std::move(from), limits, std::move(plain));
    if (const auto* const p = std::get_if<Problem>(&outcome)) *problem = p->sentence;
  }
  std::string problem_of_fetch(const std::string& bytes, FetchLimits limits = {}) {
    answer = [&] { return bytes; };
    std::string problem;
    net::test::run(io, serve(1), ask(limits, &problem));
    kept.clear();
    return problem;
  }

  asio::io_context io{1};
  std::vector<net::Listener> listeners;
  std::vector<net::Stream> kept;
  Source source;
  std::string asked;
  std::function<std::string()> answer;
  config::TemporaryFolder folder;
  const std::string path = folder.path("copy");
};

TEST_F(MirrorTest, AsksForTheProfileOnce) {
  EXPECT_EQ(problem_of_fetch(ok("{}")), "");
  EXPECT_TRUE(asked.starts_with("GET /v1/profile HTTP/1.1\r\nHost: 127.0.0.1:")) << asked;
  EXPECT_TRUE(asked.ends_with("\r\n\r\n"));
}

TEST_F(MirrorTest, SaysWhyThereIsNoAnswer) {
  EXPECT_EQ(problem_of_fetch("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"),
            "the answer has status 404, not 200");
  EXPECT_EQ(problem_of_fetch("", {50ms, 1000}), "no whole answer in time");
  EXPECT_EQ(problem_of_fetch("HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\nhel"),
            "the connection ended before the answer did");
  EXPECT_EQ(problem_of_fetch(ok(std::string(2000, 'x')), {2s, 1000}), "the answer is too long");
}

TEST_F(MirrorTest, SaysThatNobodyListens) {
  listeners.clear();
  std::string problem;
  net::test::run(io, ask({}, &problem));
  EXPECT_TRUE(problem.starts_with("cannot connect: ")) << problem;
}

TEST_F(MirrorTest, CopiesTheProfileWithItsAges) {
  const auto now = std::chrono::steady_clock::now();
  profile::Profile original;
  original.contents = profile::sample_contents();
  original.contents.hosts[0].measured_at = now - 100s;
  original.publication.contents_at = now - 7s;
  original.publication.heartbeat = now;
  bool good = true;
  const std::string told = ok(profile::to_json(original, now));
  answer = [&] { return good ? told : "HTTP/1.1 503 x\r\nContent-Length: 0\r\n\r\n"; };
  Mirror mirror(io.get_executor(), {source, {path, 0600, 5ms}, {}});
  std::string problem;
  ASSERT_TRUE(mirror.open(problem)) << problem;
  mirror.start();
  shm::ProfileReader reader(path);
  std::optional<profile::Profile> copy, later;
  const auto watch = [&]() -> asio::awaitable<void> {
    std::function<bool()> copied = [&] { return mirror.status().good > 0; };
    co_await net::test::until(std::move(copied));
    if (auto read = reader.read()) copy = *std::move(read);
    // The router fails: the copy grows old and the mirror lives.
    good = false;
    std::function<bool()> failing = [&] { return mirror.status().failed > 2; };
    co_await net::test::until(std::move(failing));
    if (auto read = reader.read()) later = *std::move(read);
    co_await mirror.stop();
    listeners[0].close();
  };
  net::test::run(io, serve(1'000'000), watch());
  ASSERT_TRUE(copy && later);
  const auto age = [](profile::Moment then) { return std::chrono::steady_clock::now() - then; };
  EXPECT_GE(age(copy->publication.contents_at), 7s);
  EXPECT_LT(age(copy->publication.contents_at), 60s);
  EXPECT_GE(age(copy->contents.hosts[0].measured_at), 100s);
  EXPECT_EQ(copy->contents.rtt[0].estimate, original.contents.rtt[0].estimate);
  EXPECT_EQ(mirror.status().problem, "the answer has status 503, not 200");
  EXPECT_GT(later->publication.heartbeat, copy->publication.heartbeat);
  EXPECT_EQ(later->contents.shares, copy->contents.shares);
  EXPECT_GT(age(later->publication.contents_at), 7s);
  const auto end = reader.read();
  ASSERT_TRUE(end);
  EXPECT_TRUE(end->publication.closed);
}

TEST_F(MirrorTest, MakesNoFileOfWhatIsNoProfile) {
  answer = [&] { return ok("[1, 2]"); };
  Mirror mirror(io.get_executor(), {source, {path, 0600, 5ms}, {}});
  std::string problem;
  ASSERT_TRUE(mirror.open(problem)) << problem;
  mirror.start();
  const auto watch = [&]() -> asio::awaitable<void> {
    std::function<bool()> failing = [&] { return mirror.status().failed > 1; };
    co_await net::test::until(std::move(failing));
    co_await mirror.stop();
    listeners[0].close();
  };
  net::test::run(io, serve(1'000'000), watch());
  EXPECT_EQ(mirror.status().problem, "the answer is no profile");
  EXPECT_FALSE(shm::ProfileReader(path).read());
}

TEST_F(MirrorTest, SaysWhyItCannotWrite) {
  Mirror mirror(io.get_executor(), {source, {folder.path("none/copy"), 0600, 5ms}, {}});
  std::string problem;
  EXPECT_FALSE(mirror.open(problem));
  EXPECT_NE(problem.find("none/copy.lock"), problem.npos);
}

}  // namespace
}  // namespace sluice::mirror
