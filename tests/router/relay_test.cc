#include "router/relay.h"

#include <string>

#include "tests/net/net_test_support.h"
#include "tests/router/relay_fixture.h"

namespace sluice::router::test {
namespace {

using net::test::run;

INSTANTIATE_TEST_SUITE_P(All, RelayOf, testing::Values(Kind::Plain, Kind::Ring, Kind::RingLater, Kind::Tls),
                         [](const auto& tested) { return name_of(tested.param); });

TEST_P(RelayOf, CarriesMessagesBothWays) {
  start();
  for (int round = 0; round < 3; ++round) {
    send_now(client(), query("SELECT 1"));
    EXPECT_EQ(receive_now(server(), query("SELECT 1").size()), query("SELECT 1"));
    send_now(server(), answer("SELECT 1"));
    EXPECT_EQ(receive_now(client(), answer("SELECT 1").size()), answer("SELECT 1"));
  }
  EXPECT_EQ(meter.totals().queries, 3U);
}

TEST_P(RelayOf, CarriesLargeMessagesBothWaysAtOnce) {
  start();
  Bytes up;
  Bytes down;
  for (unsigned i = 0; i < 5; ++i) {
    up = joined(std::move(up), query(std::string(1'000'003, static_cast<char>('a' + i))));
    down = joined(joined(std::move(down), data_row(1'500'001, i)), answer("SELECT 1"));
  }
  Bytes at_server;
  Bytes at_client;
  const auto collect = [this](net::Stream& from, std::size_t count, Bytes& into) -> asio::awaitable<void> {
    into = co_await receive(from, count);
  };
  run(io, send(client(), up), send(server(), down), collect(server(), up.size(), at_server),
      collect(client(), down.size(), at_client));
  EXPECT_TRUE(at_server == up);
  EXPECT_TRUE(at_client == down);
  EXPECT_LE(held(), held_max());
}

TEST_P(RelayOf, SendsWhatCameWithTheStartUpBeforeWhatComesLater) {
  const Bytes early = query(std::string(100'000, 'a'));
  const Bytes late = query(std::string(100'000, 'b'));
  start(early);
  run(io, send(client(), late));
  EXPECT_TRUE(receive_now(server(), early.size() + late.size()) == joined(early, late));
}

TEST_P(RelayOf, GivesBuffersBackWhenIdle) {
  start();
  for (int round = 0; round < 2; ++round) {
    send_now(client(), query("SELECT 1"));
    receive_now(server(), query("SELECT 1").size());
    send_now(server(), answer("SELECT 1"));
    receive_now(client(), answer("SELECT 1").size());
    settle();
    EXPECT_EQ(held(), held_while_waiting());
    relay->tick(Relay::Clock::now());
    settle();
    EXPECT_EQ(held(), held_while_waiting()) << "it moved since the last tick";
    relay->tick(Relay::Clock::now());
    settle();
    EXPECT_EQ(held(), 0U);
    relay->tick(Relay::Clock::now());
    settle();
  }
}

// A client that listens for notifications sends nothing for hours; a long query answers nothing for as long.
TEST_P(RelayOf, GivesTheBufferOfOneDirectionBackWhileTheOtherNeverMoved) {
  start();
  send_now(client(), query("SELECT pg_sleep(3600)"));
  receive_now(server(), query("SELECT pg_sleep(3600)").size());
  for (int i = 0; i < 2; ++i) {
    relay->tick(Relay::Clock::now());
    settle();
  }
  EXPECT_EQ(held(), 0U);
  send_now(server(), answer("SELECT 1"));
  receive_now(client(), answer("SELECT 1").size());
  for (int i = 0; i < 2; ++i) {
    relay->tick(Relay::Clock::now());
    settle();
  }
  EXPECT_EQ(held(), 0U);
}

TEST_P(RelayOf, TellsWhenSomethingLastMoved) {
  start();
  const auto t0 = Relay::Clock::now() + std::chrono::hours(1);
  relay->tick(t0);
  EXPECT_LT(relay->last_activity(), t0);
  send_now(client(), query("SELECT 1"));
  receive_now(server(), query("SELECT 1").size());
  relay->tick(t0);
  EXPECT_EQ(relay->last_activity(), t0);
  relay->tick(t0 + std::chrono::hours(1));
  EXPECT_EQ(relay->last_activity(), t0);
}

TEST_P(RelayOf, ReadsNoFurtherThanASlowClientTakes) {
  start();
  send_now(client(), query("SELECT everything"));
  receive_now(server(), query("SELECT everything").size());
  const Bytes sent = fill(server(), data_row(100'000, 1));
  EXPECT_LE(held(), held_max());
  EXPECT_NE(relay->client_stalled_since(), Relay::Clock::time_point::max());
  // A tick must not disturb the direction that waits to write.
  for (int i = 0; i < 3; ++i) {
    relay->tick(Relay::Clock::now());
    settle();
  }
  EXPECT_LE(held(), held_max());
  EXPECT_FALSE(ended);
  EXPECT_TRUE(receive_now(client(), sent.size()) == sent);
  EXPECT_EQ(relay->client_stalled_since(), Relay::Clock::time_point::max());
}

TEST_P(RelayOf, ReadsNoFurtherThanASlowServerTakes) {
  start();
  const Bytes sent = fill(client(), query(std::string(100'000, 'x')));
  EXPECT_LE(held(), held_max());
  EXPECT_EQ(relay->client_stalled_since(), Relay::Clock::time_point::max()) << "the client takes all";
  EXPECT_TRUE(receive_now(server(), sent.size()) == sent);
}

TEST_P(RelayOf, StopsReadingAClientThatIsFarAheadOfItsAnswers) {
  start();
  Bytes one = parse_and_sync();
  Bytes all;
  constexpr std::size_t kBatches = 20'000;
  for (std::size_t i = 0; i < kBatches; ++i)
    all = joined(std::move(all), one);
  // Answers what has come, a little at a time, so that the relay stops and goes on many times.
  const auto serve = [&]() -> asio::awaitable<void> {
    Bytes answers;
    for (std::size_t i = 0; i < kBatches; ++i) {
      const Bytes batch = co_await receive(server(), one.size());
      EXPECT_EQ(batch, one);
      answers = joined(std::move(answers), parsed_and_ready());
      if (i % 100 != 99) continue;
      co_await send(server(), std::move(answers));
      answers.clear();
    }
  };
  const auto consume = [&]() -> asio::awaitable<void> {
    const Bytes expected = parsed_and_ready();
    for (std::size_t i = 0; i < kBatches; ++i) {
      const Bytes got = co_await receive(client(), expected.size());
      EXPECT_EQ(got, expected);
    }
  };
  run(io, send(client(), all), serve(), consume());
  EXPECT_FALSE(tracker.owes_answer());
}

}  // namespace
}  // namespace sluice::router::test
