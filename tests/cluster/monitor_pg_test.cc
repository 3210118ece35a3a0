#include <asio/experimental/as_tuple.hpp>
#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>
#include <asio/use_awaitable.hpp>
#include <gtest/gtest.h>

#include "cluster/monitor.h"
#include "tests/support/postgres_fixture.h"
#include "tests/support/run_coroutine.h"

namespace sluice::cluster {
namespace {

using namespace std::chrono_literals;
using tests::PostgresServer;

// Waits for a condition; false after 20 s.
template <class Condition>
asio::awaitable<bool> eventually(asio::io_context& context, Condition condition) {
  asio::steady_timer timer(context);
  const auto deadline = std::chrono::steady_clock::now() + 20s;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) co_return false;
    timer.expires_after(10ms);
    co_await timer.async_wait(asio::experimental::as_tuple(asio::use_awaitable));
  }
  co_return true;
}

MonitorSettings quick() {
  MonitorSettings settings;
  settings.interval = 50ms;
  settings.timeout = 3s;
  settings.health.rise = 1;
  settings.health.fall = 2;
  return settings;
}

asio::awaitable<bool> live_through_failures(asio::io_context& context, HealthMonitor& monitor,
                                            PostgresServer& primary, PostgresServer& standby) {
  co_await asio::this_coro::throw_if_cancelled(false);
  const auto facts = [&](std::size_t i) { return monitor.servers()[i]; };
  EXPECT_TRUE(co_await eventually(context, [&] { return facts(0).status.up && facts(1).status.up; }));
  EXPECT_EQ(facts(1).in_recovery, true);
  EXPECT_GT(facts(1).probe_times.median(), 0ns);

  primary.sql("CREATE TABLE t AS SELECT generate_series(1, 1000) AS i");
  EXPECT_TRUE(co_await eventually(context, [&] { return facts(1).lag_bytes == 0U && facts(1).lag == 0ms; }));

  // Replay stands still: the primary's position shows it, in bytes and in time.
  standby.sql("SELECT pg_wal_replay_pause()");
  primary.sql("INSERT INTO t SELECT generate_series(1, 1000)");
  EXPECT_TRUE(co_await eventually(
      context, [&] { return facts(1).lag_bytes.value_or(0) > 0 && facts(1).lag.value_or(0ms) > 200ms; }));
  EXPECT_LT(facts(1).lag.value_or(0ms), 20s);
  standby.sql("SELECT pg_wal_replay_resume()");
  EXPECT_TRUE(co_await eventually(context, [&] { return facts(1).lag == 0ms; }));

  monitor.session_failed("s1");
  EXPECT_FALSE(facts(1).status.up);
  EXPECT_EQ(facts(1).status.reason, DownReason::SessionFailed);
  EXPECT_TRUE(co_await eventually(context, [&] { return facts(1).status.up; }));

  standby.stop();
  EXPECT_TRUE(co_await eventually(context, [&] { return !facts(1).status.up; }));
  EXPECT_EQ(facts(1).status.reason, DownReason::ConnectFailed);
  EXPECT_FALSE(facts(1).last_error.empty());
  standby.start();
  EXPECT_TRUE(co_await eventually(context, [&] { return facts(1).status.up; }));

  standby.promote();
  EXPECT_TRUE(
      co_await eventually(context, [&] { return facts(1).status.reason == DownReason::NotInRecovery; }));
  co_await monitor.stop();
  co_return true;
}

TEST(HealthMonitor, FollowsAPrimaryAndItsStandbyThroughFailures) {
  if (const auto reason = PostgresServer::unavailable()) GTEST_SKIP() << *reason;
  PostgresServer primary;
  PostgresServer standby(primary, "s1");
  asio::io_context context(1);
  int changes = 0;
  HealthMonitor monitor(context.get_executor(), [&](const ServerHealth&) { ++changes; });
  monitor.configure({{"main", ServerRole::Primary, primary.over_unix_socket()},
                     {"s1", ServerRole::Replica, standby.over_unix_socket()}},
                    quick());
  EXPECT_TRUE(tests::run_coroutine(context, live_through_failures(context, monitor, primary, standby)));
  EXPECT_GE(changes, 7);
}

asio::awaitable<bool> reload_and_stop(asio::io_context& context, HealthMonitor& monitor,
                                      PostgresServer& server) {
  co_await asio::this_coro::throw_if_cancelled(false);
  EXPECT_TRUE(co_await eventually(context, [&] { return monitor.servers()[0].status.up; }));
  const auto since = monitor.servers()[0].status.since;
  // "main" moves to the second place, keeps its state; the new one cannot be reached.
  pgclient::ConnectParams nowhere = server.over_unix_socket();
  nowhere.host = "/nonexistent";
  monitor.configure(
      {{"other", ServerRole::Primary, nowhere}, {"main", ServerRole::Primary, server.over_unix_socket()}},
      quick());
  EXPECT_EQ(monitor.servers()[1].status.since, since);
  EXPECT_EQ(monitor.servers()[1].index, 1U);
  EXPECT_TRUE(co_await eventually(
      context, [&] { return monitor.servers()[0].status.reason == DownReason::ConnectFailed; }));
  EXPECT_TRUE(monitor.servers()[1].status.up);
  monitor.configure({}, quick());
  EXPECT_TRUE(monitor.servers().empty());
  monitor.session_failed("main");  // gone: nothing happens
  co_await monitor.stop();
  co_return true;
}

TEST(HealthMonitor, KeepsStateOfKeptServersAcrossAReload) {
  if (const auto reason = PostgresServer::unavailable()) GTEST_SKIP() << *reason;
  PostgresServer server;
  asio::io_context context(1);
  HealthMonitor monitor(context.get_executor(), [](const ServerHealth&) {});
  monitor.configure({{"main", ServerRole::Primary, server.over_unix_socket()}}, quick());
  EXPECT_TRUE(tests::run_coroutine(context, reload_and_stop(context, monitor, server)));
}

asio::awaitable<bool> check_acceptance_alone(asio::io_context& context, HealthMonitor& monitor,
                                             PostgresServer& server) {
  co_await asio::this_coro::throw_if_cancelled(false);
  const auto facts = [&] { return monitor.servers()[0]; };
  EXPECT_TRUE(co_await eventually(context, [&] { return facts().status.up; }));
  EXPECT_FALSE(facts().in_recovery.has_value());
  EXPECT_FALSE(facts().lag_bytes.has_value());
  server.stop();
  EXPECT_TRUE(co_await eventually(context, [&] { return !facts().status.up; }));
  EXPECT_EQ(facts().status.reason, DownReason::ConnectFailed);
  server.start();
  EXPECT_TRUE(co_await eventually(context, [&] { return facts().status.up; }));
  co_await monitor.stop();
  co_return true;
}

// It logged in as the operating system's user and took the server down when that was refused.
TEST(HealthMonitor, ChecksOnlyWhetherConnectionsAreAcceptedWithoutAUser) {
  if (const auto reason = PostgresServer::unavailable()) GTEST_SKIP() << *reason;
  PostgresServer server;
  for (pgclient::ConnectParams params : {server.over_tcp(), server.over_unix_socket()}) {
    asio::io_context context(1);
    HealthMonitor monitor(context.get_executor(), [](const ServerHealth&) {});
    params.user.clear();
    params.password.clear();
    // A replica by role, a primary in fact: nobody can know.
    monitor.configure({{"s1", ServerRole::Replica, params}}, quick());
    EXPECT_TRUE(tests::run_coroutine(context, check_acceptance_alone(context, monitor, server)));
  }
}

}  // namespace
}  // namespace sluice::cluster
