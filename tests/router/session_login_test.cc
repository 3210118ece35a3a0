// How a whole session begins: the client's start-up, the login to its server, and what goes wrong on the way.

#include <algorithm>

#include <gtest/gtest.h>

#include "protocol/backend_messages.h"
#include "tests/router/session_world.h"

namespace sluice::router::test {
namespace {

using namespace std::chrono_literals;
using fakes::ScriptedClient;
using fakes::ScriptedServer;

Bytes query(std::string_view sql) {
  Bytes out;
  protocol::append_query(out, sql);
  return out;
}

Bytes terminate() {
  Bytes out;
  protocol::append_terminate(out);
  return out;
}

TEST(SessionLogin, ServesAClientThatIsTrusted) {
  SessionWorld world;
  ScriptedClient& client = world.ready_client("trusted");
  EXPECT_EQ(client.types(), "RSSKZ");
  EXPECT_EQ(client.parameter("server_version"), "15.20");
  EXPECT_EQ(world.last_backend().user(), "svc");
  client.query("SELECT 1");
  world.settle();
  EXPECT_EQ(client.types(), "RSSKZDCZ");
  client.terminate();
  world.settle();
  world.expect_nothing_left();
}

TEST(SessionLogin, LogsInToTheServerWithTheClientsOwnKey) {
  SessionWorld world;
  for (const std::string name : {"a", "b", "c"})
    world.server(name).login = ScriptedServer::Login::Scram;
  ScriptedClient& client = world.ready_client("alice");
  EXPECT_EQ(client.types(), "RRRRSSKZ");
  EXPECT_EQ(world.last_backend().user(), "alice");
  client.terminate();
  world.settle();
  world.expect_nothing_left();
}

TEST(SessionLogin, RefusesAWrongPasswordBeforeAServerIsAsked) {
  SessionWorld world;
  ScriptedClient& client = world.connect();
  client.password = "looking-glass";
  client.start("alice");
  world.settle();
  EXPECT_EQ(client.sqlstate(), "28P01");
  EXPECT_TRUE(client.ended());
  EXPECT_EQ(world.admission().decisions().size(), 0U);
  world.expect_nothing_left();
}

// Where the bytes are cut must change nothing: neither in the client's start-up nor behind it.
void expect_served_at_every_cut(std::string_view user) {
  std::size_t total = 1;
  for (std::size_t cut = 0; cut < total; ++cut) {
    SCOPED_TRACE("cut=" + std::to_string(cut));
    SessionWorld world;
    for (const std::string name : {"a", "b", "c"})
      world.server(name).login =
          user == "alice" ? ScriptedServer::Login::Scram : ScriptedServer::Login::Trust;
    world.sim().network().to_code.cut = cut;
    ScriptedClient& client = world.connect();
    world.sim().network().to_code.cut.reset();
    client.at_ready = {query("SELECT 1"), terminate()};
    client.start(user);
    ASSERT_TRUE(world.run_until([&] { return client.ended(); }, 1min));
    ASSERT_EQ(client.types(), user == "alice" ? "RRRRSSKZDCZ" : "RSSKZDCZ");
    total = client.peer().sent_total();
    world.settle();
    world.expect_nothing_left();
    ASSERT_EQ(world.shared().pool.size(), 1U);
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(total, 50U);
}

TEST(SessionLogin, ServesATrustedClientWhereverItsBytesAreCut) {
  expect_served_at_every_cut("trusted");
}

TEST(SessionLogin, ServesAScramClientWhereverItsBytesAreCut) {
  expect_served_at_every_cut("alice");
}

TEST(SessionLogin, TakesWhatIsSentBehindTheStartUpInOneBreath) {
  SessionWorld world;
  ScriptedClient& client = world.client("trusted");
  client.query("SELECT 1");
  client.query("SELECT 2");
  world.settle();
  EXPECT_EQ(client.types(), "RSSKZDCZDCZ");
  client.terminate();
  world.settle();
  world.expect_nothing_left();
}

TEST(SessionLogin, ServesWhenAllBytesComeOneByOne) {
  SessionWorld world;
  for (auto* route : {&world.sim().network().to_code, &world.sim().network().to_peer})
    route->piece_bytes_max = 1;
  for (const std::string name : {"a", "b", "c"})
    world.server(name).login = ScriptedServer::Login::Scram;
  ScriptedClient& client = world.ready_client("alice");
  client.query("rows 10 100");
  world.settle();
  EXPECT_EQ(client.types(), "RRRRSSKZDDDDDDDDDDCZ");
  client.terminate();
  world.settle();
  world.expect_nothing_left();
}

TEST(SessionLogin, EndsAStartUpThatTakesTooLong) {
  SessionWorld world("client_login_timeout: 7\n");
  ScriptedClient& silent = world.connect();
  ScriptedClient& half = world.connect();
  Bytes startup;
  protocol::append_startup_message(startup, std::vector<protocol::StartupParameter>{{"user", "trusted"}});
  half.send(ByteView(startup).first(9));
  world.run_for(6900ms);
  EXPECT_FALSE(silent.ended());
  EXPECT_FALSE(half.ended());
  world.run_for(200ms);
  EXPECT_TRUE(silent.ended());
  EXPECT_TRUE(half.ended());
  world.expect_nothing_left();
}

TEST(SessionLogin, TriesAnotherReplicaWhereOneRefusesConnections) {
  SessionWorld world;
  world.server("a").go_down();
  ScriptedClient& client = world.ready_client();
  EXPECT_EQ(world.failed(), (std::vector<std::string>{"a"}));
  EXPECT_NE(world.last_server(), "a");
  client.terminate();
  world.settle();
  world.expect_nothing_left();
}

// One time limit from connecting to ReadyForQuery: a server that takes connections and falls silent at any
// point is given up, and another one tried, since nothing of the client's was sent.
TEST(SessionLogin, TriesAnotherReplicaWhereOneStaysSilent) {
  for (const auto stop : {ScriptedServer::Stop::AtConnect, ScriptedServer::Stop::InMiddleOfLogin,
                          ScriptedServer::Stop::BeforeReady}) {
    SCOPED_TRACE(static_cast<int>(stop));
    SessionWorld world("server_connect_timeout: 4\n");
    for (const std::string name : {"a", "b", "c"})
      world.server(name).login = ScriptedServer::Login::Scram;
    world.server("a").stop = stop;
    ScriptedClient& client = world.client("alice");
    world.run_for(3900ms);
    EXPECT_FALSE(client.ready());
    EXPECT_TRUE(world.failed().empty());
    world.run_for(200ms);
    EXPECT_TRUE(client.ready());
    EXPECT_EQ(world.failed(), (std::vector<std::string>{"a"}));
    EXPECT_NE(world.last_server(), "a");
    client.terminate();
    world.settle();
    EXPECT_EQ(world.server("a").open_backends(), 0U);
    world.expect_nothing_left();
  }
}

TEST(SessionLogin, TriesAnotherReplicaWhereOneHangsUp) {
  for (const auto stop : {ScriptedServer::Stop::AtConnect, ScriptedServer::Stop::InMiddleOfLogin,
                          ScriptedServer::Stop::BeforeReady}) {
    SCOPED_TRACE(static_cast<int>(stop));
    SessionWorld world;
    for (const std::string name : {"a", "b", "c"})
      world.server(name).login = ScriptedServer::Login::Scram;
    world.server("a").stop = stop;
    world.server("a").manner = ScriptedServer::Manner::Closes;
    ScriptedClient& client = world.ready_client("alice");
    EXPECT_EQ(world.failed(), (std::vector<std::string>{"a"}));
    client.terminate();
    world.settle();
    world.expect_nothing_left();
  }
}

TEST(SessionLogin, TriesAnotherReplicaWhereNoPacketIsAnswered) {
  SessionWorld world("server_connect_timeout: 3\n");
  world.server("a").swallow();
  world.server("b").swallow();
  ScriptedClient& client = world.client();
  ASSERT_TRUE(world.run_until([&] { return client.ready(); }, 7s));
  EXPECT_GE(world.seconds(), 6.0);
  EXPECT_EQ(world.last_server(), "c");
  client.terminate();
  world.settle();
  world.expect_nothing_left();
}

// It says that it starts up: no reason to doubt it, one to ask another.
TEST(SessionLogin, TriesAnotherReplicaWhereOneIsNotReady) {
  SessionWorld world;
  world.server("a").refusal = "57P03";
  ScriptedClient& client = world.ready_client();
  EXPECT_TRUE(world.failed().empty());
  EXPECT_NE(world.last_server(), "a");
  client.terminate();
  world.settle();
  world.expect_nothing_left();
}

TEST(SessionLogin, TellsTheClientWhatTheServerRefusesItFor) {
  SessionWorld world;
  for (const std::string name : {"a", "b", "c"})
    world.server(name).refusal = "3D000";
  ScriptedClient& client = world.client();
  world.settle();
  EXPECT_EQ(client.sqlstate(), "3D000");
  EXPECT_EQ(client.errors().back().message, "the server says so");
  EXPECT_TRUE(client.ended());
  EXPECT_EQ(world.admission().decisions().size(), 1U) << "another replica would say the same";
  world.expect_nothing_left();
}

// B17: clients that come back at once with a password that PostgreSQL does not take.
TEST(SessionLogin, DoesNotAskAServerAgainAtOnceForARefusedLogin) {
  SessionWorld world;
  fakes::ScriptedServer& server = world.server("a");
  server.refusal = "28P01";
  const auto refused = [&] {
    ScriptedClient& client = world.client();
    world.settle();
    EXPECT_EQ(client.sqlstate(), "28P01");
    EXPECT_EQ(client.errors().back().message, "the server says so");
  };
  for (int i = 0; i < 20; ++i)
    refused();
  EXPECT_EQ(server.backends().size(), 1U);
  world.run_for(1s);
  for (int i = 0; i < 20; ++i)
    refused();
  EXPECT_EQ(server.backends().size(), 2U);
  server.refusal.reset();
  world.run_for(1s);
  refused();  // twice as long now
  world.run_for(1s);
  ScriptedClient& client = world.ready_client();
  EXPECT_EQ(world.last_server(), "a");
  world.end(client);
  world.expect_nothing_left();
}

TEST(SessionLogin, AsksAServerAgainForARefusedLoginAfterReconnect) {
  SessionWorld world;
  world.server("a").refusal = "28000";
  world.client();
  world.settle();
  EXPECT_EQ(world.server("a").backends().size(), 1U);
  world.server("a").refusal.reset();
  world.shared().drop_idle(std::nullopt);
  ScriptedClient& client = world.ready_client();
  EXPECT_EQ(world.last_server(), "a");
  world.end(client);
  world.expect_nothing_left();
}

TEST(SessionLogin, TellsTheClientWhenNoReplicaIsLeft) {
  SessionWorld world;
  for (const std::string name : {"a", "b", "c"})
    world.server(name).go_down();
  ScriptedClient& first = world.client();
  world.settle();
  EXPECT_EQ(first.sqlstate(), "08006") << "the last one it was tried with";
  EXPECT_EQ(world.failed().size(), 3U);
  ScriptedClient& second = world.client();
  world.settle();
  EXPECT_EQ(second.sqlstate(), "57P03");
  world.expect_nothing_left();
}

TEST(SessionLogin, WaitsForAReplicaWhereConfigured) {
  SessionWorld world("no_replica: wait\nno_replica_wait: 20\n");
  for (const std::string name : {"a", "b", "c"})
    world.admission().set_up(*world.admission().find_replica(name), false);
  ScriptedClient& lucky = world.client();
  world.run_for(15s);
  EXPECT_FALSE(lucky.ended());
  world.admission().set_up(*world.admission().find_replica("b"), true);
  ASSERT_TRUE(world.run_until([&] { return lucky.ready(); }, 1s));
  EXPECT_EQ(world.last_server(), "b");
  world.admission().set_up(*world.admission().find_replica("b"), false);
  ScriptedClient& late = world.client();
  world.run_for(19900ms);
  EXPECT_FALSE(late.ended());
  world.run_for(300ms);
  EXPECT_EQ(late.sqlstate(), "57P03");
  EXPECT_TRUE(late.ended());
  lucky.terminate();
  world.settle();
  world.expect_nothing_left();
}

TEST(SessionLogin, GivesUpWaitingAfterQueryWaitTimeout) {
  SessionWorld world("query_wait_timeout: 5\n");
  for (const std::string name : {"a", "b", "c"})
    world.server(name).swallow();
  ScriptedClient& client = world.client();
  world.run_for(4900ms);
  EXPECT_FALSE(client.ended());
  world.run_for(200ms);
  EXPECT_EQ(client.sqlstate(), "57P03");
  EXPECT_EQ(client.errors().back().message, "query_wait_timeout");
  EXPECT_TRUE(world.failed().empty()) << "a server that was not given its time has not failed";
  world.expect_nothing_left();
}

// Clients that wait for a server that has fallen silent, or for its place in a queue of the dead, are moved
// to another replica, each of them.
TEST(SessionLogin, MovesAllThatWaitToAnotherReplica) {
  SessionWorld world("server_connect_timeout: 2\nquery_wait_timeout: 30\n");
  world.server("a").swallow();
  std::vector<ScriptedClient*> clients;
  for (int i = 0; i < 20; ++i)
    clients.push_back(&world.client());
  const auto all_ready = [&] {
    return std::all_of(clients.begin(), clients.end(), [](const ScriptedClient* c) { return c->ready(); });
  };
  world.run_for(1s);
  const auto waiting = std::count_if(clients.begin(), clients.end(), [](auto* c) { return !c->ready(); });
  EXPECT_GT(waiting, 1) << "the policy gave the silent one several";
  EXPECT_LT(waiting, 20);
  ASSERT_TRUE(world.run_until(all_ready, 4s));
  EXPECT_EQ(world.admission().snapshot().replicas[0].total_load, 0);
  for (ScriptedClient* client : clients)
    client->terminate();
  world.settle();
  world.expect_nothing_left();
}

TEST(SessionLogin, ForgetsAClientThatLeavesWhileItsServerIsSilent) {
  SessionWorld world("server_connect_timeout: 5\n");
  for (const std::string name : {"a", "b", "c"})
    world.server(name).stop = ScriptedServer::Stop::AtConnect;
  ScriptedClient& client = world.client();
  world.run_for(1s);
  client.peer().reset();
  world.run_for(1min);
  world.expect_nothing_left();
}

// A server may speak unasked behind its first ReadyForQuery, and the read that brings that one brings more:
// changed settings and notices reach the client with its start-up, a notification is nobody's.
TEST(SessionLogin, KeepsWhatTheServerSaysBehindItsFirstReadyForQuery) {
  SessionWorld world;
  Bytes behind;
  protocol::append_parameter_status(behind, "TimeZone", "Europe/Zurich");
  protocol::append_notice_response(behind, {"NOTICE", "00000", "hello", "", ""});
  protocol::append_parameter_status(behind, "application_name", "late");
  protocol::append_message(behind, 'A', as_bytes(std::string_view("\0\0\0\1channel\0payload\0", 20)));
  for (const std::string name : {"a", "b", "c"})
    world.server(name).behind_ready = behind;
  ScriptedClient& client = world.ready_client();
  EXPECT_EQ(client.parameter("TimeZone"), "Europe/Zurich");
  EXPECT_EQ(client.parameter("application_name"), "late");
  EXPECT_EQ(client.parameter("server_version"), "15.20");
  EXPECT_EQ(client.types(), "RSSSNKZ");
  client.query("SELECT 1");
  world.settle();
  EXPECT_EQ(client.types(), "RSSSNKZDCZ");
  client.terminate();
  world.settle();
  world.expect_nothing_left();
}

// Such as the warning of a database whose collations have changed.
TEST(SessionLogin, PassesTheNoticesOfALoginOnToTheSessionThatItWasFor) {
  SessionWorld world;
  for (int i = 0; i < 3; ++i)
    protocol::append_notice_response(world.server("a").before_ready,
                                     {"WARNING", "01000", "collation version mismatch", "", ""});
  ScriptedClient& first = world.ready_client();
  EXPECT_EQ(first.types(), "RSSNNNKZ");
  first.terminate();
  world.settle();
  ScriptedClient& second = world.ready_client();
  EXPECT_EQ(second.types(), "RSSKZ") << "not another session's";
  second.terminate();
  world.settle();
  world.expect_nothing_left();
}

TEST(SessionLogin, KeepsNoticesOfALoginWithinBounds) {
  SessionWorld world;
  for (int i = 0; i < 100; ++i)
    protocol::append_notice_response(world.server("a").before_ready,
                                     {"WARNING", "01000", std::string(1000, 'n'), "", ""});
  ScriptedClient& client = world.ready_client();
  EXPECT_EQ(client.types(), "RSSNNNNNNNKZ");
  client.terminate();
  world.settle();
  world.expect_nothing_left();
}

TEST(SessionLogin, ReadsOnWhereThatIsCutShort) {
  Bytes behind;
  protocol::append_parameter_status(behind, "TimeZone", "Europe/Zurich");
  // The server's whole login is one write; its cuts behind the ReadyForQuery.
  std::size_t greeting = 0;
  {
    SessionWorld world;
    world.ready_client();
    greeting = world.last_backend().peer().sent_total();
  }
  for (std::size_t cut = greeting; cut <= greeting + behind.size(); ++cut) {
    SCOPED_TRACE(cut);
    SessionWorld world;
    ScriptedClient& client = world.client();
    world.sim().network().to_code.cut = cut;  // of the server's connection, which is yet to be made
    for (const std::string name : {"a", "b", "c"})
      world.server(name).behind_ready = behind;
    ASSERT_TRUE(world.run_until([&] { return client.ready(); }, 1min));
    world.settle();
    EXPECT_EQ(client.parameter("TimeZone"), "Europe/Zurich");
    client.query("SELECT 1");
    world.settle();
    EXPECT_TRUE(client.types().ends_with("DCZ")) << client.types();
    client.terminate();
    world.settle();
    world.expect_nothing_left();
  }
}

TEST(SessionLogin, TakesAnotherServerWhereOneEndsBehindItsFirstReadyForQuery) {
  SessionWorld world;
  protocol::append_error_response(world.server("a").behind_ready, {"FATAL", "57P01", "bye", "", ""});
  ScriptedClient& client = world.ready_client();
  EXPECT_NE(world.last_server(), "a");
  EXPECT_EQ(client.types(), "RSSKZ");
  client.terminate();
  world.settle();
  world.expect_nothing_left();
}

}  // namespace
}  // namespace sluice::router::test
