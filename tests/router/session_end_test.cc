// How a whole session ends: by either side, by a time limit, by the router; and what everybody is told.

#include <gtest/gtest.h>

#include "protocol/backend_messages.h"
#include "tests/router/session_world.h"

namespace sluice::router::test {
namespace {

using namespace std::chrono_literals;
using fakes::Backend;
using fakes::ScriptedClient;
using fakes::ScriptedServer;

std::int64_t closed_by(SessionWorld& world, telemetry::CloseReason reason) {
  return world.reading().value(telemetry::metric::sessions_closed_total, reason);
}

TEST(SessionEnd, ByTerminateKeepsTheServer) {
  SessionWorld world;
  ScriptedClient& client = world.ready_client();
  client.terminate();
  world.settle();
  EXPECT_EQ(world.last_backend().heard(), (std::vector<std::string>{"Q:DISCARD ALL"}));
  EXPECT_TRUE(world.last_backend().open());
  EXPECT_EQ(world.shared().pool.size(), 1U);
  EXPECT_EQ(closed_by(world, telemetry::CloseReason::ClientTerminate), 1);
  world.expect_nothing_left();
}

TEST(SessionEnd, ByAClosedConnectionKeepsTheServerWhenNothingIsOwed) {
  SessionWorld world;
  ScriptedClient& client = world.ready_client();
  client.query("BEGIN");
  world.settle();
  client.peer().close();
  world.settle();
  EXPECT_EQ(world.last_backend().heard(),
            (std::vector<std::string>{"Q:BEGIN", "Q:ROLLBACK", "Q:DISCARD ALL"}));
  EXPECT_EQ(world.shared().pool.size(), 1U);
  EXPECT_EQ(closed_by(world, telemetry::CloseReason::ClientDisconnect), 1);
  world.expect_nothing_left();
}

TEST(SessionEnd, ByHalfCloseBringsTheWholeAnswerFirst) {
  SessionWorld world;
  ScriptedClient& client = world.ready_client();
  client.query("rows 1000 1000");
  client.peer().shutdown_send();
  world.settle();
  const std::string expected = "RSSKZ" + std::string(1000, 'D') + "CZ";
  EXPECT_EQ(client.types(), expected);
  EXPECT_TRUE(client.peer().ended());
  EXPECT_FALSE(client.peer().was_reset());
  world.expect_nothing_left();
}

TEST(SessionEnd, ByResetInTheMiddleOfAResultCancelsIt) {
  SessionWorld world;
  ScriptedClient& client = world.ready_client();
  client.query("wait");
  world.settle();
  Bytes rows;
  for (int i = 0; i < 100; ++i)
    protocol::append_message(rows, 'D', Bytes(1000, std::byte{'r'}));
  world.last_backend().send(rows);
  world.settle();
  client.peer().reset();
  world.settle();
  ScriptedServer& server = world.server(world.last_server());
  EXPECT_EQ(server.cancels(), (std::vector<std::int32_t>{world.last_backend().process_id()}));
  EXPECT_EQ(server.open_backends(), 0U);
  EXPECT_EQ(world.shared().pool.size(), 0U);
  world.expect_nothing_left();
}

TEST(SessionEnd, ByAServerThatGoesWhileNothingIsOwed) {
  SessionWorld world;
  ScriptedClient& client = world.ready_client();
  world.last_backend().die("");
  world.settle();
  EXPECT_EQ(client.sqlstate(), "57P01");
  EXPECT_TRUE(client.peer().ended());
  EXPECT_EQ(closed_by(world, telemetry::CloseReason::ServerDisconnect), 1);
  world.expect_nothing_left();
}

TEST(SessionEnd, ByAServerThatGoesInAQuery) {
  SessionWorld world;
  ScriptedClient& client = world.ready_client();
  client.query("wait");
  world.settle();
  world.last_backend().peer().reset();
  world.settle();
  EXPECT_EQ(client.sqlstate(), "08006");
  EXPECT_EQ(client.errors().size(), 1U);
  EXPECT_TRUE(client.peer().ended());
  world.expect_nothing_left();
}

// In the middle of a message nothing of ours may follow: it would be read as a part of it.
TEST(SessionEnd, ByAServerThatGoesInTheMiddleOfARowSaysNothing) {
  SessionWorld world;
  ScriptedClient& client = world.ready_client();
  client.query("wait");
  world.settle();
  Bytes row;
  protocol::append_message(row, 'D', Bytes(1000, std::byte{'r'}));
  world.last_backend().send(ByteView(row).first(500));
  world.last_backend().die("");
  world.settle();
  EXPECT_EQ(client.types(), "RSSKZ");
  EXPECT_EQ(client.cut_short().size(), 500U);
  EXPECT_TRUE(client.peer().ended());
  world.expect_nothing_left();
}

TEST(SessionEnd, ByTheServersOwnFatalSaysThatAlone) {
  SessionWorld world;
  for (const std::string sql : {"", "wait"}) {
    ScriptedClient& client = world.ready_client();
    if (!sql.empty()) client.query(sql);
    world.settle();
    world.last_backend().die("57P02");
    world.settle();
    ASSERT_EQ(client.errors().size(), 1U);
    EXPECT_EQ(client.sqlstate(), "57P02");
    EXPECT_EQ(client.errors()[0].message, "the server says so");
    EXPECT_TRUE(client.peer().ended());
  }
  EXPECT_EQ(closed_by(world, telemetry::CloseReason::ServerFatal), 2);
  world.expect_nothing_left();
}

TEST(SessionEnd, ByClientIdleTimeoutOutsideOfATransactionAlone) {
  SessionWorld world("client_idle_timeout: 30\nidle_transaction_timeout: 300\n");
  ScriptedClient& idle = world.ready_client();
  ScriptedClient& in_transaction = world.ready_client();
  ScriptedClient& busy = world.ready_client();
  in_transaction.query("BEGIN");
  busy.query("wait");
  world.run_for(29s);
  EXPECT_FALSE(idle.ended());
  world.run_for(2s);
  EXPECT_EQ(idle.sqlstate(), "57P05");
  EXPECT_TRUE(idle.ended());
  world.run_for(200s);
  EXPECT_FALSE(in_transaction.ended());
  world.run_for(100s);
  EXPECT_EQ(in_transaction.sqlstate(), "25P03");
  EXPECT_FALSE(busy.ended());
  EXPECT_EQ(closed_by(world, telemetry::CloseReason::ClientIdleTimeout), 1);
  EXPECT_EQ(closed_by(world, telemetry::CloseReason::IdleTransactionTimeout), 1);
  busy.peer().reset();
  world.settle();
  world.expect_nothing_left();
}

TEST(SessionEnd, ByIdleTimeoutCountsFromTheLastActivity) {
  SessionWorld world("client_idle_timeout: 30\n");
  ScriptedClient& client = world.ready_client();
  for (int i = 0; i < 10; ++i) {
    world.run_for(20s);
    client.query("SELECT 1");
  }
  world.run_for(28s);
  EXPECT_FALSE(client.ended());
  world.run_for(4s);
  EXPECT_TRUE(client.ended());
  world.expect_nothing_left();
}

// Rows that trickle do not put it off; time in which it is the client's turn does not count.
TEST(SessionEnd, ByQueryTimeoutCancelsTheQuery) {
  SessionWorld world("query_timeout: 10\n");
  ScriptedClient& client = world.ready_client();
  client.query("BEGIN");
  world.run_for(60s);
  EXPECT_FALSE(client.ended()) << "idle in a transaction is no query";
  client.query("wait");
  Bytes row;
  protocol::append_message(row, 'D', Bytes(10, std::byte{'r'}));
  for (int i = 0; i < 9; ++i) {
    world.run_for(1s);
    world.last_backend().send(row);
  }
  EXPECT_FALSE(client.ended());
  world.run_for(3s);
  EXPECT_EQ(client.sqlstate(), "57014");
  EXPECT_TRUE(client.ended());
  EXPECT_EQ(world.server(world.last_server()).cancels().size(), 1U);
  EXPECT_EQ(world.shared().pool.size(), 0U);
  world.expect_nothing_left();
}

// Everything between a server and a client that does not read stays within two windows and a buffer.
TEST(SessionEnd, ByWriteStallTimeoutWithMemoryBoundedBefore) {
  SessionWorld world("write_stall_timeout: 60\n");
  ScriptedClient& slow = world.ready_client();
  slow.query("SELECT 1");
  world.settle();
  slow.peer().pause();
  slow.query("rows 10000 1000");
  world.settle();
  Backend& backend = world.last_backend();
  EXPECT_GT(backend.peer().unsent(), 9'000'000U) << "the router reads no more";
  EXPECT_LE(world.worker().buffers().lent(), 2U);
  ScriptedClient& other = world.ready_client();
  for (int i = 0; i < 5; ++i) {
    world.run_for(10s);
    other.query("SELECT 1");
    world.settle();
    EXPECT_EQ(other.ready_count(), static_cast<std::size_t>(i) + 2);
    EXPECT_LE(world.worker().buffers().lent(), 4U);
  }
  slow.peer().resume();
  world.settle();
  EXPECT_EQ(slow.ready_count(), 3U) << "all of it came";
  EXPECT_EQ(slow.session_bytes().size(), 10'000U * 1'005 + (5 + 7 + 5 + 9 + 6) + (5 + 13 + 6));
  slow.peer().pause();
  slow.query("rows 10000 1000");
  world.run_for(50s);
  EXPECT_TRUE(backend.open());
  world.run_for(20s);
  EXPECT_FALSE(backend.open()) << "a client that does not read holds its server for ever";
  EXPECT_EQ(closed_by(world, telemetry::CloseReason::WriteStallTimeout), 1);
  slow.peer().resume();
  other.terminate();
  world.settle();
  EXPECT_TRUE(slow.ended());
  world.expect_nothing_left();
}

// The other way round: a server that does not read stops its client, and nobody else.
TEST(SessionEnd, LeavesAClientWaitingWhoseServerDoesNotRead) {
  SessionWorld world;
  ScriptedClient& client = world.ready_client();
  Backend& backend = world.last_backend();
  backend.peer().pause();
  for (int i = 0; i < 100; ++i)
    client.query(std::string(100'000, 's'));
  world.run_for(10s);
  EXPECT_GT(client.peer().unsent(), 9'000'000U);
  EXPECT_LE(world.worker().buffers().lent(), 2U);
  backend.peer().resume();
  world.settle();
  EXPECT_EQ(client.ready_count(), 101U);
  client.terminate();
  world.settle();
  world.expect_nothing_left();
}

TEST(SessionEnd, GivesTheBuffersOfIdleSessionsBack) {
  SessionWorld world;
  std::vector<ScriptedClient*> clients;
  for (int i = 0; i < 50; ++i)
    clients.push_back(&world.ready_client());
  world.run_for(2s);
  EXPECT_EQ(world.worker().buffers().lent(), 0U);
  for (ScriptedClient* client : clients) {
    client->query("SELECT 1");
    world.run_for(700ms);
    EXPECT_EQ(client->types(), "RSSKZDCZ");
  }
  world.run_for(2s);
  EXPECT_EQ(world.worker().buffers().lent(), 0U);
  for (ScriptedClient* client : clients)
    client->peer().close();
  world.settle();
  world.expect_nothing_left();
}

TEST(SessionEnd, ByTheRouterTellsWhoIsBetweenTwoMessages) {
  SessionWorld world;
  ScriptedClient& idle = world.ready_client();
  ScriptedClient& busy = world.ready_client();
  ScriptedClient& logging_in = world.connect();
  busy.query("wait");
  world.settle();
  world.shut_down();
  world.settle();
  EXPECT_EQ(idle.sqlstate(), "57P01");
  EXPECT_EQ(busy.sqlstate(), "57P01");
  EXPECT_TRUE(idle.ended());
  EXPECT_TRUE(busy.ended());
  EXPECT_TRUE(logging_in.ended());
  EXPECT_EQ(world.shared().pool.size(), 0U) << "nothing is kept by a router that ends";
  world.expect_nothing_left();
}

// Whatever is on its way at that moment: the client gets a beginning of what it is owed, then either the
// reason behind a whole message, or nothing more in the middle of one.
TEST(SessionEnd, ByTheRouterAtAnyMomentOfAResult) {
  int told = 0, cut_short = 0;
  for (auto moment = 0us; moment < 1500us; moment += 10us) {
    SCOPED_TRACE(moment.count());
    SessionWorld world;
    for (auto* route : {&world.sim().network().to_code, &world.sim().network().to_peer})
      route->piece_bytes_max = 700;
    ScriptedClient& client = world.ready_client();
    client.query("rows 200 3000");
    world.run_for(moment);
    world.worker().end_sessions([](const Session&) { return true; }, {"FATAL", "57P01", "killed", "", ""},
                                telemetry::CloseReason::Killed);
    world.settle();
    EXPECT_TRUE(client.ended());
    std::string types = client.types();
    if (client.errors().empty()) {
      ++cut_short;
      EXPECT_FALSE(client.cut_short().empty());
    } else {
      ++told;
      EXPECT_TRUE(client.cut_short().empty());
      EXPECT_EQ(types.back(), 'E');
      types.pop_back();
    }
    EXPECT_TRUE(("RSSKZ" + std::string(200, 'D') + "CZ").starts_with(types)) << types;
    world.expect_nothing_left();
  }
  EXPECT_GT(told, 5);
  EXPECT_GT(cut_short, 5);
}

// It takes the greeting slowly, and the end comes meanwhile.
TEST(SessionEnd, ByTheRouterWhileTheClientIsGreeted) {
  SessionWorld world;
  world.sim().network().to_peer.window_bytes = 40;
  ScriptedClient& client = world.connect();
  client.peer().pause();
  client.start("trusted");
  world.run_for(1s);
  EXPECT_EQ(client.peer().unread(), 40U);
  world.worker().end_sessions([](const Session&) { return true; }, {"FATAL", "57P01", "killed", "", ""},
                              telemetry::CloseReason::Killed);
  world.settle();
  client.peer().resume();
  world.settle();
  EXPECT_EQ(client.types(), "RSSKZE");
  EXPECT_EQ(client.sqlstate(), "57P01");
  EXPECT_TRUE(client.ended());
  world.expect_nothing_left();
}

// Whoever is told that the server does not answer any more had a query on it, or none.
TEST(SessionEnd, ByALostReplicaTellsWhetherAQueryWasRunning) {
  SessionWorld world;
  ScriptedClient& idle = world.ready_client();
  const std::string server = world.last_server();
  ScriptedClient& busy = world.ready_client();
  busy.query("wait");
  world.settle();
  world.worker().end_sessions(
      [](const Session&) { return true; },
      {"FATAL", "08006", "the server of this session does not answer any more", "", ""},
      telemetry::CloseReason::ReplicaDown);
  world.settle();
  EXPECT_EQ(idle.sqlstate(), "57P01");
  EXPECT_EQ(busy.sqlstate(), "08006");
  EXPECT_EQ(closed_by(world, telemetry::CloseReason::ReplicaDown), 2);
  world.run_for(1min);
  world.expect_nothing_left();
}

TEST(SessionEnd, ByDrainLetsSessionsGoOnAndKeepsNoServer) {
  SessionWorld world;
  ScriptedClient& client = world.ready_client();
  const std::string drained = world.last_server();
  world.admission().set_draining(drained, true);
  client.query("SELECT 1");
  world.settle();
  EXPECT_EQ(client.types(), "RSSKZDCZ");
  for (int i = 0; i < 6; ++i) {
    ScriptedClient& next = world.ready_client();
    EXPECT_NE(world.last_server(), drained);
    next.terminate();
    world.settle();
  }
  client.terminate();
  world.settle();
  EXPECT_EQ(world.server(drained).open_backends(), 0U);
  world.expect_nothing_left();
}

TEST(SessionEnd, StopsListeningWhileItDrains) {
  SessionWorld world;
  ScriptedClient& client = world.ready_client();
  world.worker().stop_accepting();
  world.settle();
  ScriptedClient& refused = world.client();
  world.settle();
  EXPECT_TRUE(refused.peer().was_reset());
  EXPECT_TRUE(refused.types().empty());
  client.query("SELECT 1");
  world.settle();
  EXPECT_EQ(client.types(), "RSSKZDCZ");
  client.terminate();
  world.settle();
  world.expect_nothing_left();
}

}  // namespace
}  // namespace sluice::router::test
