// How a relay ends, and what each side sees of it.

#include <algorithm>
#include <string>

#include <asio/socket_base.hpp>

#include "router/relay.h"
#include "tests/net/net_test_support.h"
#include "tests/router/relay_fixture.h"

namespace sluice::router::test {
namespace {

class RelayEndOf : public RelayOf {
 protected:
  // An abortive close: the other end gets a reset.
  static void reset(net::Stream& stream) {
    std::error_code ec;
    stream.socket().set_option(asio::socket_base::linger(true, 0), ec);
    EXPECT_FALSE(ec);
    stream.socket().close(ec);
  }
  void owe_an_answer() {
    send_now(client(), query("SELECT 1"));
    receive_now(server(), query("SELECT 1").size());
  }
};

INSTANTIATE_TEST_SUITE_P(All, RelayEndOf,
                         testing::Values(Kind::Plain, Kind::Ring, Kind::RingLater, Kind::Tls),
                         [](const auto& tested) { return name_of(tested.param); });

TEST_P(RelayEndOf, KeepsATerminateFromTheServerWhenNothingIsOwed) {
  start();
  send_now(client(), terminate());
  EXPECT_EQ(end(), RelayEnd::ClientTerminated);
  EXPECT_TRUE(receive_all_now(server()).empty());
}

TEST_P(RelayEndOf, ForwardsWhatStandsBeforeATerminate) {
  start();
  send_now(client(), joined(query("SELECT 1"), terminate()));
  EXPECT_EQ(receive_now(server(), query("SELECT 1").size() + 5), joined(query("SELECT 1"), terminate()));
  // The server finishes what it was asked before it sees the Terminate, and closes.
  send_now(server(), answer("SELECT 1"));
  EXPECT_EQ(receive_now(client(), answer("SELECT 1").size()), answer("SELECT 1"));
  EXPECT_FALSE(ended);
  server().close();
  EXPECT_EQ(end(), RelayEnd::ClientTerminated);
}

TEST_P(RelayEndOf, EndsWhenAClientLeavesThatIsOwedNothing) {
  start();
  owe_an_answer();
  send_now(server(), answer("SELECT 1"));
  receive_now(client(), answer("SELECT 1").size());
  client().close();
  EXPECT_EQ(end(), RelayEnd::ClientClosed);
  EXPECT_TRUE(tracker.clean_for_reuse());
}

TEST_P(RelayEndOf, PassesAHalfCloseOnAndTheRestOfTheAnswerBack) {
  start();
  const Bytes sql = query(std::string(3'000'000, 'x'));
  const Bytes rows = joined(data_row(3'000'000, 1), answer("SELECT 1"));
  const auto ask = [&]() -> asio::awaitable<void> {
    co_await send(client(), sql);
    client().shutdown_send();
  };
  const auto serve = [&]() -> asio::awaitable<void> {
    const Bytes got = co_await receive_all(server());
    EXPECT_TRUE(got == sql);
    co_await send(server(), rows);
    server().close();
  };
  Bytes got;
  const auto read = [&]() -> asio::awaitable<void> { got = co_await receive_all(client()); };
  net::test::run(io, ask(), serve(), read());
  EXPECT_TRUE(got == rows);
  EXPECT_EQ(end(), RelayEnd::ClientClosed);
}

TEST_P(RelayEndOf, EndsWhenTheClientResets) {
  start();
  owe_an_answer();
  reset(client());
  const RelayEnd how = end();
  EXPECT_EQ(how, RelayEnd::ClientFailed);
}

TEST_P(RelayEndOf, EndsWhenTheClientResetsInTheMiddleOfAnAnswer) {
  start();
  owe_an_answer();
  fill(server(), data_row(100'000, 1));
  reset(client());
  EXPECT_EQ(end(), RelayEnd::ClientFailed);
}

TEST_P(RelayEndOf, EndsWhenTheServerResets) {
  start();
  owe_an_answer();
  reset(server());
  EXPECT_EQ(end(), RelayEnd::ServerClosed);
  EXPECT_TRUE(receive_all_now(client()).empty());
}

TEST_P(RelayEndOf, EndsWhenTheServerCloses) {
  start();
  server().close();
  EXPECT_EQ(end(), RelayEnd::ServerClosed);
}

TEST_P(RelayEndOf, BringsTheServersLastWordsToTheClient) {
  start();
  send_now(server(), fatal("terminating connection due to administrator command"));
  server().close();
  // What the client sends meanwhile cannot be delivered, and must not hide them.
  client().try_write(query(std::string(50'000, 'x')));
  EXPECT_EQ(end(), RelayEnd::ServerClosed);
  EXPECT_TRUE(tracker.fatal_seen());
}

TEST_P(RelayEndOf, EndsWhenTheServerSpeaksNoProtocol) {
  start();
  send_now(server(), Bytes{std::byte{'D'}, std::byte{0}, std::byte{0}, std::byte{0}, std::byte{1}});
  EXPECT_EQ(end(), RelayEnd::ServerClosed);
  EXPECT_TRUE(tracker.backend_malformed());
  EXPECT_TRUE(receive_all_now(client()).empty());
}

TEST_P(RelayEndOf, LetsTheServerJudgeAMalformedMessage) {
  start();
  const Bytes bad = {std::byte{'Q'}, std::byte{0}, std::byte{0}, std::byte{0}, std::byte{3}};
  send_now(client(), joined(bad, query("SELECT 1")));
  EXPECT_EQ(receive_now(server(), bad.size()), bad);
  settle();
  EXPECT_FALSE(ended);
  send_now(server(), fatal("invalid message length"));
  EXPECT_EQ(receive_now(client(), fatal("invalid message length").size()), fatal("invalid message length"));
  server().close();
  EXPECT_EQ(end(), RelayEnd::ServerJudged);
}

TEST_P(RelayEndOf, StopsAtRest) {
  start();
  settle();
  relay->stop();
  EXPECT_FALSE(ended) << "told from within stop()";
  relay->stop();
  EXPECT_EQ(end(), RelayEnd::Stopped);
}

TEST_P(RelayEndOf, StopsRightAfterItsStart) {
  start(query("SELECT 1"));
  relay->stop();
  EXPECT_EQ(end(), RelayEnd::Stopped);
}

TEST_P(RelayEndOf, StopsWhileReading) {
  start();
  owe_an_answer();
  send_now(server(), data_row(100, 1));
  receive_now(client(), 105);
  relay->stop();
  EXPECT_EQ(end(), RelayEnd::Stopped);
}

TEST_P(RelayEndOf, StopsWhileNeitherSideTakesAnything) {
  start();
  fill(client(), query(std::string(100'000, 'x')));
  fill(server(), data_row(100'000, 1));
  relay->stop();
  EXPECT_EQ(end(), RelayEnd::Stopped);
}

// A last message of ours must not stand in the middle of one of the server's.
TEST_P(RelayEndOf, LeavesWhatTheClientDidNotTakeWhenItIsStopped) {
  start();
  owe_an_answer();
  const Bytes sent = fill(server(), data_row(100'000, 1));
  relay->stop();
  EXPECT_EQ(end(), RelayEnd::Stopped);
  EXPECT_FALSE(unsent.empty());
  const Bytes got = joined(receive_all_now(client()), unsent);
  ASSERT_LE(got.size(), sent.size());
  EXPECT_TRUE(std::equal(got.begin(), got.end(), sent.begin()));
  protocol::SessionTracker follower;
  const Bytes asked = query("SELECT 1");
  follower.on_frontend(asked, Relay::Clock::now());
  follower.on_backend(got, Relay::Clock::now(), meter);
  EXPECT_EQ(follower.backend_at_boundary(), tracker.backend_at_boundary());
}

TEST_P(RelayEndOf, StopsWhileItGivesABufferBack) {
  start();
  owe_an_answer();
  relay->tick(Relay::Clock::now());
  relay->tick(Relay::Clock::now());
  relay->stop();
  EXPECT_EQ(end(), RelayEnd::Stopped);
}

TEST_P(RelayEndOf, StopsAfterTheClientLeft) {
  start();
  owe_an_answer();
  client().shutdown_send();
  EXPECT_TRUE(receive_all_now(server()).empty());
  relay->stop();
  EXPECT_EQ(end(), RelayEnd::Stopped);
}

}  // namespace
}  // namespace sluice::router::test
