#include "router/server_pool.h"

#include <array>
#include <thread>

#include <asio/io_context.hpp>
#include <gtest/gtest.h>

#include "tests/net/net_test_support.h"

namespace sluice::router {
namespace {

using namespace std::chrono_literals;
using Clock = ServerPool::Clock;

const Clock::time_point kStart = Clock::now();
constexpr ServerPool::Limits kRoomy{10, 100, 0s, 0s};

class PoolOfServers : public testing::Test {
 protected:
  // A connection whose server's end stays with the test.
  void give(const std::string& key, std::int32_t process_id, ServerPool::Limits limits = kRoomy,
            Clock::time_point now = kStart, ServerId server = ServerId(0)) {
    auto [ours, servers] = net::test::unix_pair(io.get_executor());
    server_ends.push_back(std::move(servers));
    const auto parameters = ParameterSet::intern({});
    pool.give({std::move(ours), server, key, process_id, {}, parameters, "alice", "app", kStart}, limits,
              now);
  }
  std::int32_t take(const std::string& key) {
    const auto idle = pool.take(key);
    return idle ? idle->process_id : 0;
  }
  bool closed(std::size_t index) {
    std::array<std::byte, 1> byte;
    return server_ends[index].try_read(byte).status == net::IoStatus::Eof;
  }

  asio::io_context io{1};
  std::vector<net::Stream> server_ends;
  ServerPool pool;
};

TEST_F(PoolOfServers, GivesOutTheOneUsedLast) {
  give("key", 1);
  give("key", 2);
  EXPECT_EQ(pool.size(), 2U);
  EXPECT_EQ(take("key"), 2);
  EXPECT_EQ(take("key"), 1);
  EXPECT_EQ(take("key"), 0);
  EXPECT_EQ(pool.size(), 0U);
}

TEST_F(PoolOfServers, KeepsKeysApart) {
  give("a", 1);
  give("b", 2);
  EXPECT_EQ(take("c"), 0);
  EXPECT_EQ(take("a"), 1);
  EXPECT_EQ(take("a"), 0);
  EXPECT_EQ(take("b"), 2);
}

TEST_F(PoolOfServers, ClosesWhatHasNoRoom) {
  const ServerPool::Limits limits{2, 3, 0s, 0s};
  for (int i = 1; i <= 3; ++i)
    give("a", i, limits);
  EXPECT_TRUE(closed(2)) << "per key";
  for (int i = 4; i <= 5; ++i)
    give("b", i, limits);
  EXPECT_FALSE(closed(3));
  EXPECT_TRUE(closed(4)) << "in all";
  EXPECT_EQ(pool.size(), 3U);
}

TEST_F(PoolOfServers, SweepsWhatIsIdleOrAliveForTooLong) {
  give("a", 1);
  give("a", 2, kRoomy, kStart + 50s);
  EXPECT_EQ(pool.sweep({10, 100, 60s, 0s}, kStart + 59s), 0U);
  EXPECT_EQ(pool.sweep({10, 100, 60s, 0s}, kStart + 60s), 1U);
  EXPECT_TRUE(closed(0));
  EXPECT_EQ(pool.sweep({10, 100, 0s, 90s}, kStart + 89s), 0U);
  EXPECT_EQ(pool.sweep({10, 100, 0s, 90s}, kStart + 90s), 1U);
  EXPECT_TRUE(closed(1));
  EXPECT_EQ(pool.size(), 0U);
  EXPECT_EQ(take("a"), 0);
}

TEST_F(PoolOfServers, SweepsWhatTheServerClosed) {
  give("a", 1);
  give("b", 2);
  server_ends[0].close();
  EXPECT_EQ(pool.sweep(kRoomy, kStart), 1U);
  EXPECT_EQ(take("a"), 0);
  EXPECT_EQ(take("b"), 2);
}

TEST_F(PoolOfServers, DropsTheConnectionsOfOneServer) {
  give("a", 1, kRoomy, kStart, ServerId(0));
  give("b", 2, kRoomy, kStart, ServerId(1));
  pool.drop(ServerId(0));
  EXPECT_TRUE(closed(0));
  EXPECT_EQ(take("b"), 2);
  give("c", 3);
  pool.drop_all();
  EXPECT_TRUE(closed(2));
  EXPECT_EQ(pool.size(), 0U);
}

TEST_F(PoolOfServers, TellsWhatItHolds) {
  give("a", 7, kRoomy, kStart + 5s, ServerId(3));
  const auto all = pool.snapshot();
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].user, "alice");
  EXPECT_EQ(all[0].database, "app");
  EXPECT_EQ(all[0].server, ServerId(3));
  EXPECT_EQ(all[0].process_id, 7);
  EXPECT_EQ(all[0].opened_at, kStart);
  EXPECT_EQ(all[0].idle_since, kStart + 5s);
}

TEST_F(PoolOfServers, HandsConnectionsFromThreadToThread) {
  for (int i = 1; i <= 4; ++i)
    give("key", i);
  const auto work = [this](std::size_t rounds) {
    asio::io_context mine{1};
    for (std::size_t i = 0; i < rounds; ++i) {
      std::optional<ServerPool::Idle> idle = pool.take("key");
      if (!idle) continue;
      auto stream = net::Stream::adopt(mine.get_executor(), std::move(idle->stream));
      ASSERT_TRUE(stream);
      EXPECT_FALSE(stream->has_pending_or_eof());
      const auto parameters = ParameterSet::intern({});
      pool.give({*std::move(stream), idle->server, "key", idle->process_id, {}, parameters, "", "", kStart},
                kRoomy, kStart);
    }
  };
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back(work, std::size_t{500});
  for (int i = 0; i < 100; ++i)
    EXPECT_EQ(pool.sweep(kRoomy, kStart), 0U);
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_EQ(pool.size(), 4U);
}

}  // namespace
}  // namespace sluice::router
