// Limits on the time of sessions, queries and transactions, in both pool modes.

#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "protocol/frontend_messages.h"
#include "tests/router/session_world.h"

namespace sluice::router::test {
namespace {

using namespace std::chrono_literals;
using fakes::Backend;
using fakes::ScriptedClient;
using telemetry::CloseReason;
namespace metric = telemetry::metric;

class SessionLimits : public testing::TestWithParam<const char*> {
 protected:
  std::string with(std::string_view more) const {
    return "pool_mode: " + std::string(GetParam()) + "\n" + std::string(more);
  }
  static std::int64_t closed_by(SessionWorld& world, CloseReason reason) {
    return world.reading().value(metric::sessions_closed_total, reason);
  }
};

TEST_P(SessionLimits, EndATransactionThatLastsTooLong) {
  SessionWorld world(with("transaction_timeout: 30\n"));
  ScriptedClient& talks = world.ready_client();
  ScriptedClient& busy = world.ready_client();
  ScriptedClient& short_ones = world.ready_client();
  talks.query("BEGIN");
  busy.query("wait");
  for (int i = 0; i < 14; ++i) {
    talks.query("SELECT 1");
    short_ones.query("SELECT 1");
    world.run_for(2s);
  }
  EXPECT_FALSE(talks.ended());
  EXPECT_FALSE(busy.ended());
  world.run_for(4s);
  EXPECT_EQ(talks.sqlstate(), "25P04");
  EXPECT_TRUE(talks.ended());
  EXPECT_TRUE(busy.ended());
  EXPECT_EQ(closed_by(world, CloseReason::TransactionTimeout), 2);
  world.run_for(100s);
  EXPECT_FALSE(short_ones.ended()) << "it is between two transactions";
  world.end(short_ones);
  world.run_for(1min);
  world.expect_nothing_left();
}

TEST_P(SessionLimits, EndAnOldSessionOnceItIsBetweenTwoTransactions) {
  SessionWorld world(with("session_lifetime: 60\n"));
  ScriptedClient& idle = world.ready_client();
  ScriptedClient& working = world.ready_client();
  idle.query("SELECT 1");
  working.query("BEGIN");
  world.run_for(59s);
  EXPECT_FALSE(idle.ended());
  world.run_for(2s);
  EXPECT_TRUE(idle.ended());
  EXPECT_EQ(idle.errors().back().message, "terminating connection due to session_lifetime");
  world.run_for(60s);
  EXPECT_FALSE(working.ended());
  working.query("COMMIT");
  world.run_for(2s);
  EXPECT_TRUE(working.ended());
  EXPECT_EQ(working.ready_count(), 3U) << "its transaction was answered";
  EXPECT_EQ(closed_by(world, CloseReason::Lifetime), 2);
  world.expect_nothing_left();
}

TEST_P(SessionLimits, EndIdleSessionsAndIdleTransactionsAndLongQueries) {
  SessionWorld world(with("client_idle_timeout: 40\nidle_transaction_timeout: 20\nquery_timeout: 30\n"));
  ScriptedClient& idle = world.ready_client();
  ScriptedClient& in_transaction = world.ready_client();
  ScriptedClient& busy = world.ready_client();
  idle.query("SELECT 1");
  in_transaction.query("BEGIN");
  busy.query("wait");
  world.run_for(18s);
  EXPECT_FALSE(in_transaction.ended());
  world.run_for(4s);
  EXPECT_EQ(in_transaction.sqlstate(), "25P03");
  EXPECT_FALSE(busy.ended());
  world.run_for(10s);
  EXPECT_TRUE(busy.ended());
  EXPECT_EQ(closed_by(world, CloseReason::QueryTimeout), 1);
  EXPECT_FALSE(idle.ended());
  world.run_for(10s);
  EXPECT_EQ(idle.sqlstate(), "57P05");
  EXPECT_EQ(closed_by(world, CloseReason::ClientIdleTimeout) +
                closed_by(world, CloseReason::IdleTransactionTimeout),
            2);
  world.run_for(1min);
  world.expect_nothing_left();
}

// B74: the server has answered all that it was asked, and waits for the Sync. One that works is no idle
// session.
TEST_P(SessionLimits, EndASessionThatFallsSilentWithinABatch) {
  SessionWorld world(with("idle_transaction_timeout: 20\nclient_idle_timeout: 10\n"));
  Backend* slow = nullptr;
  for (const std::string name : {"a", "b"})
    world.server(name).on_message = [&slow](Backend& backend, char type, std::string_view text) {
      if (type == 'P' && text == "slow") slow = &backend;
      return type == 'E' && &backend == slow;
    };
  ScriptedClient& silent = world.ready_client();
  ScriptedClient& works = world.ready_client();
  for (const auto& [client, sql] : {std::pair(&silent, "SELECT 1"), std::pair(&works, "slow")}) {
    Bytes batch;
    protocol::append_parse(batch, "", sql);
    protocol::append_bind(batch, "", "");
    protocol::append_execute(batch, "", 0);
    protocol::append_flush(batch);
    client->send(batch);
  }
  world.run_for(19s);
  EXPECT_EQ(silent.types(), "RSSKZ12C");
  EXPECT_EQ(works.types(), "RSSKZ12");
  EXPECT_FALSE(silent.ended());
  world.run_for(3s);
  EXPECT_EQ(silent.sqlstate(), "25P03");
  EXPECT_TRUE(silent.ended());
  EXPECT_EQ(closed_by(world, CloseReason::IdleTransactionTimeout), 1);
  world.run_for(1min);
  EXPECT_FALSE(works.ended());
  works.peer().reset();
  world.run_for(1min);
  world.expect_nothing_left();
}

TEST_P(SessionLimits, CloseServerConnectionsThatAreOld) {
  SessionWorld world(with("server_lifetime: 60\nserver_idle_timeout: 0\n"));
  ScriptedClient& client = world.ready_client();
  client.query("SELECT 1");
  world.run_for(59s);
  world.end(client);
  EXPECT_EQ(world.server("a").open_backends(), 1U);
  world.run_for(5s);
  // As the control thread does for the connections of sessions.
  world.shared().pool.sweep(world.worker().snapshot()->pool_limits, world.sim().clock().peek());
  ScriptedClient& next = world.ready_client();
  next.query("SELECT 1");
  world.settle();
  EXPECT_EQ(world.server("a").backends().size(), 2U) << "a new one";
  world.end(next);
  world.expect_nothing_left();
}

// Each limit makes the second wait, and is named when it has waited in vain.
TEST_P(SessionLimits, NameWhatKeptARequestWaiting) {
  const bool transactions = std::string_view(GetParam()) == "transaction";
  const std::pair<const char*, const char*> kLimits[] = {
      {"max_total_active: 1\n", "max_total_active"},
      {"max_user_connections: 1\n", "max_user_connections"},
      {"max_db_connections: 1\n", "max_db_connections"},
      {"classes: [{name: premium, target: 1}, {name: freemium, target: 1, max_active: 1}]\n",
       "max_active of class freemium"},
      {"hosts: [{name: web, networks: 10.0.1.0/24, max_active: 1}]\n", "max_active of host web"},
  };
  for (const auto& [setting, name] : kLimits) {
    SCOPED_TRACE(name);
    SessionWorld world(with(std::string(setting) + "query_wait_timeout: 5\n"));
    ScriptedClient& holder = world.ready_client();
    holder.query("BEGIN");
    world.settle();
    ScriptedClient& waits = transactions ? world.ready_client() : world.client();
    if (transactions) waits.query("SELECT 1");
    world.run_for(7s);
    ASSERT_EQ(waits.sqlstate(), "53300");
    EXPECT_NE(waits.errors().back().detail.find("(" + std::string(name) + ")"), std::string::npos)
        << waits.errors().back().detail;
    EXPECT_EQ(waits.ended(), !transactions);
    holder.query("COMMIT");
    world.settle();
    if (transactions) {
      waits.query("SELECT 1");
      world.settle();
      EXPECT_EQ(waits.types().substr(waits.types().size() - 3), "DCZ");
      world.end(waits);
    }
    world.end(holder);
    world.expect_nothing_left();
  }
}

INSTANTIATE_TEST_SUITE_P(PoolModes, SessionLimits, testing::Values("session", "transaction"),
                         [](const auto& mode) { return std::string(mode.param); });

}  // namespace
}  // namespace sluice::router::test
