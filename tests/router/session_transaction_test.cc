// Sessions in transaction mode: which server connection runs what, and what becomes of it.

#include <algorithm>

#include <gtest/gtest.h>

#include "protocol/backend_messages.h"
#include "protocol/error_response.h"
#include "tests/router/session_world.h"

namespace sluice::router::test {
namespace {

using namespace std::chrono_literals;
using fakes::Backend;
using fakes::ScriptedClient;
using fakes::ScriptedServer;

// The replicas a, b, c: of equally loaded ones, the first.
constexpr std::string_view kTransactions = "pool_mode: transaction\n";

constexpr std::string_view kAtPrimary =
    "pool_mode: transaction\ndatabases: [{name: \"*\", target: primary}]\n";

std::size_t backends(SessionWorld& world) {
  std::size_t count = 0;
  for (const std::string name : {"a", "b", "c", "p"})
    count += world.server(name).backends().size();
  return count;
}

std::vector<std::string> heard_by(SessionWorld& world, const std::string& server, std::size_t backend = 0) {
  return world.server(server).backends().at(backend).heard();
}

Bytes message(char type, std::string_view body) {
  Bytes out;
  protocol::append_message(out, type, as_bytes(body));
  return out;
}

TEST(SessionTransaction, GivesEachTheServerForOneTransaction) {
  SessionWorld world(kTransactions);
  ScriptedClient& first = world.ready_client();
  ScriptedClient& second = world.ready_client();
  EXPECT_EQ(second.types(), "RSSKZ") << "greeted without a server of its own";
  EXPECT_NE(first.process_id(), second.process_id());
  first.query("SELECT 1");
  world.settle();
  second.query("SELECT 2");
  world.settle();
  first.query("SELECT 3");
  world.settle();
  EXPECT_EQ(heard_by(world, "a"), (std::vector<std::string>{"Q:SELECT 1", "Q:SELECT 2", "Q:SELECT 3"}));
  EXPECT_EQ(first.types(), "RSSKZDCZDCZ");
  EXPECT_EQ(second.types(), "RSSKZDCZ");
  EXPECT_EQ(world.server("a").backends().size(), 1U);
  EXPECT_TRUE(world.server("b").backends().empty());
  world.end(first);
  world.end(second);
  world.expect_nothing_left();
}

TEST(SessionTransaction, KeepsTheServerUntilTheTransactionIsOver) {
  SessionWorld world(kTransactions);
  ScriptedClient& first = world.ready_client();
  ScriptedClient& second = world.ready_client();
  first.query("BEGIN");
  world.settle();
  second.query("SELECT 2");
  world.settle();
  first.query("SELECT 1");
  world.settle();
  first.query("COMMIT");
  world.settle();
  EXPECT_EQ(heard_by(world, "a"), (std::vector<std::string>{"Q:BEGIN", "Q:SELECT 1", "Q:COMMIT"}));
  EXPECT_EQ(heard_by(world, "b"), (std::vector<std::string>{"Q:SELECT 2"})) << "the least loaded replica";
  second.query("SELECT 3");
  world.settle();
  EXPECT_EQ(heard_by(world, "a").back(), "Q:SELECT 3");
  world.end(first);
  world.end(second);
  world.expect_nothing_left();
}

// B42: the first ReadyForQuery is not the last one owed.
TEST(SessionTransaction, KeepsTheServerUntilTheLastAnswerOfAPipeline) {
  SessionWorld world(kTransactions);
  ScriptedClient& first = world.ready_client();
  ScriptedClient& second = world.ready_client();
  Bytes pipeline;
  protocol::append_query(pipeline, "SELECT 1");
  protocol::append_query(pipeline, "wait");
  first.send(pipeline);
  world.settle();
  EXPECT_EQ(first.types(), "RSSKZDCZ");
  second.query("SELECT 2");
  world.settle();
  EXPECT_EQ(heard_by(world, "a"), (std::vector<std::string>{"Q:SELECT 1", "Q:wait"}));
  EXPECT_EQ(heard_by(world, "b"), (std::vector<std::string>{"Q:SELECT 2"}));
  first.peer().reset();
  world.end(second);
  world.settle();
  world.expect_nothing_left();
}

// B64
TEST(SessionTransaction, RollsBackWhatAClientLeavesOpen) {
  SessionWorld world(kTransactions);
  for (const bool polite : {true, false}) {
    ScriptedClient& client = world.ready_client();
    client.query("BEGIN");
    world.settle();
    polite ? client.terminate() : client.peer().reset();
    world.settle();
    const std::vector<std::string> heard = heard_by(world, "a");
    EXPECT_EQ(heard[heard.size() - 2], "Q:ROLLBACK");
    EXPECT_EQ(heard.back(), "Q:DISCARD ALL");
  }
  ScriptedClient& next = world.ready_client();
  next.query("SELECT 1");
  world.settle();
  EXPECT_EQ(heard_by(world, "a").back(), "Q:SELECT 1");
  EXPECT_EQ(world.server("a").backends().size(), 1U);
  world.end(next);
  world.expect_nothing_left();
}

TEST(SessionTransaction, CancelsAndClosesWhatNobodyWaitsForAnyMore) {
  SessionWorld world(kTransactions);
  ScriptedClient& client = world.ready_client();
  client.query("wait");
  world.settle();
  client.peer().reset();
  world.settle();
  EXPECT_EQ(world.server("a").cancels().size(), 1U);
  EXPECT_EQ(world.server("a").open_backends(), 0U);
  world.expect_nothing_left();
}

// Was: the end waited for it in vain, with a receive of its own still pending.
TEST(SessionTransaction, EndsWithoutWaitingForAServerThatIsBeingCleaned) {
  SessionWorld world(kTransactions);
  world.server("a").on_message = [](Backend&, char, std::string_view text) { return text == "DISCARD ALL"; };
  ScriptedClient& client = world.ready_client();
  client.query("BEGIN");
  world.settle();
  client.terminate();
  world.settle();
  ASSERT_EQ(heard_by(world, "a").back(), "Q:DISCARD ALL") << "and never answered";
  ASSERT_EQ(world.worker().transaction_pools().count(), 1U);
  const double before = world.seconds();
  world.shut_down();
  EXPECT_LT(world.seconds() - before, 1.0);
  EXPECT_EQ(world.worker().transaction_pools().count(), 0U);
  EXPECT_EQ(world.sim().kernel().open_sockets(), 0U);
}

// B67
TEST(SessionTransaction, PassesOverAServerThatDiedWhileItWasIdle) {
  SessionWorld world(kTransactions);
  ScriptedClient& client = world.ready_client();
  client.query("SELECT 1");
  world.settle();
  world.server("a").last().die("57P01");
  world.settle();
  EXPECT_EQ(world.worker().transaction_pools().count(), 0U) << "noticed at once";
  client.query("SELECT 2");
  world.settle();
  EXPECT_EQ(client.types(), "RSSKZDCZDCZ");
  EXPECT_TRUE(client.errors().empty());
  world.end(client);
  world.expect_nothing_left();
}

TEST(SessionTransaction, EndsTheSessionWithItsServerInTheMiddleOfATransaction) {
  SessionWorld world(kTransactions);
  ScriptedClient& client = world.ready_client();
  client.query("BEGIN");
  world.settle();
  world.server("a").last().die("57P01");
  world.settle();
  EXPECT_EQ(client.types(), "RSSKZCZE");
  EXPECT_EQ(client.sqlstate(), "57P01");
  EXPECT_TRUE(client.ended());
  world.expect_nothing_left();
}

TEST(SessionTransaction, TakesNoServerForHalfAMessage) {
  SessionWorld world(kTransactions);
  ScriptedClient& client = world.ready_client();
  Bytes query;
  protocol::append_query(query, "SELECT 1");
  for (std::size_t i = 0; i + 1 < query.size(); ++i) {
    client.send(ByteView(query).subspan(i, 1));
    world.settle();
  }
  EXPECT_TRUE(heard_by(world, "a").empty());
  EXPECT_EQ(world.admission().snapshot().replicas[0].total_load, 0);
  client.send(ByteView(query).last(1));
  world.settle();
  EXPECT_EQ(client.types(), "RSSKZDCZ");
  world.end(client);
  world.expect_nothing_left();
}

// B48: what is left of a COPY that failed.
TEST(SessionTransaction, DropsWhatAServerWouldIgnore) {
  SessionWorld world(kTransactions);
  ScriptedClient& client = world.ready_client();
  Bytes rest = message('d', "late row");
  append(rest, message('c', ""));
  append(rest, message('H', ""));
  protocol::append_query(rest, "SELECT 1");
  for (std::size_t i = 0; i < rest.size(); ++i) {
    client.send(ByteView(rest).subspan(i, 1));
    world.settle();
  }
  EXPECT_EQ(heard_by(world, "a"), (std::vector<std::string>{"Q:SELECT 1"}));
  EXPECT_EQ(client.types(), "RSSKZDCZ");
  world.end(client);
  world.expect_nothing_left();
}

// A Flush has no body: PostgreSQL refuses one that has, and skips what follows up to a Sync.
TEST(SessionTransaction, LeavesAFlushWithABodyToTheServer) {
  SessionWorld world(kTransactions);
  world.server("a").on_message = [](Backend& backend, char type, std::string_view) {
    if (type != 'H') return false;
    Bytes error;
    protocol::append_error_response(error, {"ERROR", "08P01", "invalid message format", "", ""});
    backend.send(error);
    return true;
  };
  ScriptedClient& client = world.ready_client();
  const Bytes flush = message('H', "body");
  for (std::size_t i = 0; i < flush.size(); ++i) {
    client.send(ByteView(flush).subspan(i, 1));
    world.settle();
  }
  EXPECT_EQ(heard_by(world, "a"), (std::vector<std::string>{"H:"}));
  EXPECT_EQ(client.sqlstate(), "08P01");
  EXPECT_EQ(world.admission().snapshot().replicas[0].total_load, 1) << "it waits for a Sync";
  client.send(message('S', ""));
  world.settle();
  EXPECT_EQ(client.types(), "RSSKZEZ");
  EXPECT_EQ(world.admission().snapshot().replicas[0].total_load, 0);
  world.end(client);
  world.expect_nothing_left();
}

TEST(SessionTransaction, ToldNonsenseCostsNoServerConnection) {
  SessionWorld world(kTransactions);
  ScriptedClient& client = world.ready_client();
  client.send(message('z', ""));
  world.settle();
  EXPECT_EQ(client.sqlstate(), "08P01");
  EXPECT_TRUE(client.ended());
  EXPECT_EQ(world.server("a").open_backends(), 1U);
  world.expect_nothing_left();
}

// B23
TEST(SessionTransaction, ACancelReachesAQueryThatWaitsForAServer) {
  SessionWorld world(kTransactions);
  ScriptedClient& holder = world.ready_client();
  ScriptedClient& waiting = world.ready_client();
  holder.query("BEGIN");
  world.settle();
  for (const std::string name : {"a", "b", "c"})
    world.server(name).stop = ScriptedServer::Stop::BeforeReady;
  for (const bool extended : {false, true}) {
    Bytes request;
    if (extended) {
      protocol::append_parse(request, "", "SELECT 1");
      append(request, message('S', ""));
    } else {
      protocol::append_query(request, "SELECT 1");
    }
    waiting.send(request);
    world.settle();
    world.connect().cancel(waiting);
    world.settle();
  }
  EXPECT_EQ(waiting.types(), "RSSKZEZEZ");
  EXPECT_EQ(waiting.sqlstate(), "57014");
  for (const std::string name : {"a", "b", "c"})
    world.server(name).stop = ScriptedServer::Stop::Nowhere;
  holder.query("COMMIT");
  world.settle();
  waiting.query("SELECT 2");
  world.settle();
  EXPECT_EQ(waiting.types(), "RSSKZEZEZDCZ");
  EXPECT_EQ(heard_by(world, "a").back(), "Q:SELECT 2");
  world.end(holder);
  world.end(waiting);
  world.run_for(1min);
  world.expect_nothing_left();
}

// B22
TEST(SessionTransaction, ACancelOnItsWayKeepsTheServerFromTheNextClient) {
  SessionWorld world(kTransactions);
  ScriptedClient& first = world.ready_client();
  ScriptedClient& second = world.ready_client();
  first.query("wait");
  world.settle();
  Backend& backend = world.server("a").last();
  world.server("a").hold_cancels = true;
  world.connect().cancel(first);
  world.settle();
  ASSERT_EQ(world.server("a").cancels().size(), 1U);
  Bytes answer;
  protocol::append_command_complete(answer, "SELECT 0");
  protocol::append_ready_for_query(answer, 'I');
  backend.send(answer);
  world.settle();
  second.query("SELECT 1");
  world.settle();
  EXPECT_EQ(backend.heard().size(), 1U);
  EXPECT_EQ(second.types(), "RSSKZDCZ") << "on another one";
  world.end(first);
  world.end(second);
  world.run_for(1min);
  world.expect_nothing_left();
}

TEST(SessionTransaction, ACancelThatIsOverLetsWhoWaitsHaveTheServer) {
  SessionWorld world(kAtPrimary);
  ScriptedServer& server = world.server("p");
  ScriptedClient& first = world.ready_client();
  ScriptedClient& second = world.ready_client();
  first.query("wait");
  world.settle();
  Backend& backend = server.last();
  server.hold_cancels = true;
  world.connect().cancel(first);
  world.settle();
  ASSERT_EQ(server.cancels().size(), 1U);
  Backend& cancel = server.backends().back();
  Bytes answer;
  protocol::append_command_complete(answer, "SELECT 0");
  protocol::append_ready_for_query(answer, 'I');
  backend.send(answer);
  server.stop = ScriptedServer::Stop::BeforeReady;
  world.settle();
  second.query("SELECT 1");
  world.settle();
  EXPECT_EQ(second.types(), "RSSKZ") << "the idle one may still be hit, and the new one hangs";
  cancel.peer().close();
  world.settle();
  EXPECT_EQ(second.types(), "RSSKZDCZ");
  EXPECT_EQ(backend.heard().back(), "Q:SELECT 1");
  world.end(first);
  world.end(second);
  world.run_for(1min);
  world.expect_nothing_left();
}

TEST(SessionTransaction, AnswersWithAnErrorWhereNoServerIsToBeHadAndGoesOn) {
  SessionWorld world(kTransactions);
  ScriptedClient& client = world.ready_client();
  world.server("a").last().die("57P01");
  for (const std::string name : {"a", "b", "c"})
    world.admission().set_up(*world.admission().find_replica(name), false);
  world.settle();
  client.query("SELECT 1");
  world.settle();
  EXPECT_EQ(client.types(), "RSSKZEZ");
  EXPECT_EQ(client.sqlstate(), "57P03");
  world.admission().set_up(*world.admission().find_replica("b"), true);
  client.query("SELECT 1");
  world.settle();
  EXPECT_EQ(client.types(), "RSSKZEZDCZ");
  world.end(client);
  world.expect_nothing_left();
}

TEST(SessionTransaction, TriesAnotherReplicaWhereOneRefusesConnections) {
  SessionWorld world(kTransactions);
  ScriptedClient& client = world.ready_client();
  world.server("a").last().die("57P01");
  world.server("a").go_down();
  world.settle();
  client.query("SELECT 1");
  world.settle();
  EXPECT_EQ(client.types(), "RSSKZDCZ");
  EXPECT_EQ(heard_by(world, "b"), (std::vector<std::string>{"Q:SELECT 1"}));
  EXPECT_EQ(world.failed(), (std::vector<std::string>{"a"}));
  world.end(client);
  world.expect_nothing_left();
}

// B73
TEST(SessionTransaction, ASlowReaderHoldsUpNobodyElse) {
  SessionWorld world(kTransactions);
  ScriptedClient& slow = world.ready_client();
  slow.peer().pause();
  slow.query("rows 100 1000");
  world.settle();
  ScriptedClient& other = world.ready_client();
  other.query("SELECT 1");
  world.settle();
  EXPECT_EQ(other.types(), "RSSKZDCZ");
  slow.peer().resume();
  world.settle();
  EXPECT_EQ(slow.ready_count(), 2U);
  world.end(slow);
  world.end(other);
  world.expect_nothing_left();
}

TEST(SessionTransaction, ClosesConnectionsThatNobodyUses) {
  SessionWorld world("pool_mode: transaction\nserver_idle_timeout: 30\n");
  ScriptedClient& client = world.ready_client();
  client.query("SELECT 1");
  world.run_for(29s);
  EXPECT_EQ(world.worker().transaction_pools().count(), 1U);
  world.run_for(2s);
  EXPECT_EQ(world.worker().transaction_pools().count(), 0U);
  client.query("SELECT 1");
  world.settle();
  EXPECT_EQ(client.ready_count(), 3U);
  world.end(client);
  world.expect_nothing_left();
}

TEST(SessionTransaction, TakesInWhatAServerSaysWhileItIsIdle) {
  SessionWorld world(kTransactions);
  ScriptedClient& client = world.ready_client();
  Bytes unasked;
  protocol::append_notice_response(unasked, {"NOTICE", "00000", "for nobody", "", ""});
  protocol::append_parameter_status(unasked, "TimeZone", "Europe/Zurich");
  world.server("a").last().send(unasked);
  world.settle();
  EXPECT_EQ(world.worker().transaction_pools().idle_count(), 1U);
  client.query("SELECT 1");
  world.settle();
  EXPECT_EQ(client.errors().size(), 0U);
  EXPECT_EQ(world.server("a").backends().size(), 1U);
  world.end(client);
  world.expect_nothing_left();
}

TEST(SessionTransaction, AnswersAClientThatSendsNoMoreThanItsQuery) {
  SessionWorld world(kTransactions);
  ScriptedClient& client = world.ready_client();
  client.query("SELECT 1");
  client.peer().close();
  world.settle();
  EXPECT_EQ(heard_by(world, "a"), (std::vector<std::string>{"Q:SELECT 1"}));
  world.expect_nothing_left();
}

// As an administrator changes a default, for connections that are opened from now on.
void change_time_zone(SessionWorld& world) {
  for (const std::string name : {"a", "b", "c"})
    protocol::append_parameter_status(world.server(name).before_ready, "TimeZone", "Asia/Tokyo");
}

// B62: the servers may have been restarted with other settings.
TEST(SessionTransaction, AsksTheServersAnewWhenNoConnectionIsLeft) {
  SessionWorld world(kTransactions);
  ScriptedClient& first = world.ready_client();
  first.query("SELECT 1");
  world.settle();
  change_time_zone(world);
  world.server("a").last().die("57P01");
  world.settle();
  ScriptedClient& next = world.ready_client();
  EXPECT_EQ(next.parameter("TimeZone"), "Asia/Tokyo");
  next.query("SELECT 2");
  world.settle();
  EXPECT_EQ(world.server("a").last().heard(), (std::vector<std::string>{"Q:SELECT 2"})) << "and sets nothing";
  world.end(first);
  world.end(next);
  world.expect_nothing_left();
}

TEST(SessionTransaction, AsksTheServersAnewAfterAReconnect) {
  SessionWorld world(kTransactions);
  ScriptedClient& busy = world.ready_client();
  busy.query("BEGIN");
  world.settle();
  change_time_zone(world);
  ScriptedClient& before = world.ready_client();
  EXPECT_EQ(before.parameter("TimeZone"), "UTC");
  world.shared().gates.reconnect(std::nullopt, world.sim().clock().peek());
  world.shared().drop_idle(std::nullopt);
  world.settle();
  ScriptedClient& after = world.ready_client();
  EXPECT_EQ(after.parameter("TimeZone"), "Asia/Tokyo");
  busy.query("COMMIT");
  world.settle();
  EXPECT_EQ(busy.types(), "RSSKZCZCZ");
  for (ScriptedClient* const client : {&busy, &before, &after})
    world.end(*client);
  world.expect_nothing_left();
}

// A burst of logins, before anybody knows what the servers report: one opens a connection, the others wait
// for what it learns.
TEST(SessionTransaction, OpensOneConnectionForClientsThatLogInTogether) {
  for (const std::string_view target : {"replicas", "primary"}) {
    SessionWorld world("pool_mode: transaction\ndatabases: [{name: \"*\", target: " + std::string(target) +
                       "}]\n");
    std::vector<ScriptedClient*> clients;
    for (int i = 0; i < 20; ++i)
      clients.push_back(&world.client());
    world.settle();
    for (ScriptedClient* const client : clients)
      EXPECT_EQ(client->types(), "RSSKZ");
    EXPECT_EQ(world.worker().transaction_pools().count(), 1U);
    EXPECT_EQ(backends(world), 1U);
    for (ScriptedClient* const client : clients)
      world.end(*client);
    world.expect_nothing_left();
  }
}

// The server that the first of them has been given may be the only one that is silent.
TEST(SessionTransaction, AFirstConnectionThatHangsHoldsUpTheOthersForASecond) {
  SessionWorld world(kTransactions);
  world.server("a").stop = ScriptedServer::Stop::BeforeReady;
  std::vector<ScriptedClient*> clients;
  for (int i = 0; i < 3; ++i)
    clients.push_back(&world.client());
  world.run_for(900ms);
  EXPECT_EQ(backends(world), 1U);
  std::int64_t slots = 0;
  for (const auto& replica : world.admission().snapshot().replicas)
    slots += replica.total_load;
  EXPECT_EQ(slots, 1) << "those that wait have none";
  world.run_for(200ms);
  const auto greeted = [](const ScriptedClient* client) { return client->types() == "RSSKZ"; };
  EXPECT_EQ(std::count_if(clients.begin(), clients.end(), greeted), 2);
  EXPECT_EQ(backends(world), 3U) << "each tried for itself";
  world.run_for(1min);
  EXPECT_EQ(std::count_if(clients.begin(), clients.end(), greeted), 3);
  for (ScriptedClient* const client : clients)
    world.end(*client);
  world.expect_nothing_left();
}

// Each in its turn, where the first is refused at once; not all together.
TEST(SessionTransaction, AFirstConnectionThatIsRefusedLetsOneMoreTry) {
  SessionWorld world(kAtPrimary);
  ScriptedServer& server = world.server("p");
  std::size_t at_once = 0;
  server.refusal = "53300";
  std::vector<ScriptedClient*> clients;
  for (int i = 0; i < 20; ++i)
    clients.push_back(&world.client());
  world.run_until([&] {
    at_once = std::max(at_once, server.open_backends());
    return server.backends().size() >= 3;
  });
  server.refusal.reset();
  world.run_for(1min);
  EXPECT_EQ(at_once, 1U);
  EXPECT_EQ(std::count_if(clients.begin(), clients.end(),
                          [](const ScriptedClient* client) { return client->types() == "RSSKZ"; }),
            18)
      << "the first two were refused";
  EXPECT_EQ(server.open_backends(), 1U);
  for (ScriptedClient* const client : clients)
    world.end(*client);
  world.expect_nothing_left();
}

// Those that queue for a slot when it becomes known need none.
TEST(SessionTransaction, GreetsThoseThatWaitForASlotOnceAServerIsKnown) {
  SessionWorld world("max_active: 1\npool_mode: transaction\ndatabases: [{name: \"*\", target: primary}]\n");
  ScriptedClient& other = world.ready_client("alice");
  other.query("BEGIN");
  world.settle();
  std::vector<ScriptedClient*> clients;
  for (int i = 0; i < 5; ++i)
    clients.push_back(&world.client());
  world.run_for(2s);
  for (ScriptedClient* const client : clients)
    EXPECT_EQ(client->types(), "") << "the slot is taken";
  other.query("COMMIT");
  world.settle();
  other.query("BEGIN");
  world.run_for(2s);
  for (ScriptedClient* const client : clients)
    EXPECT_EQ(client->types(), "RSSKZ");
  EXPECT_EQ(world.server("p").backends().size(), 2U);
  for (ScriptedClient* const client : clients)
    world.end(*client);
  world.end(other);
  world.expect_nothing_left();
}

TEST(SessionTransaction, OpensNoMoreThanSlotsForABurstOfLogins) {
  SessionWorld world("pool_mode: transaction\nmax_active: 2\n");
  std::vector<ScriptedClient*> clients;
  for (int i = 0; i < 20; ++i)
    clients.push_back(&world.client());
  world.settle();
  for (ScriptedClient* const client : clients)
    client->query("SELECT 1");
  world.settle();
  for (ScriptedClient* const client : clients)
    EXPECT_EQ(client->types(), "RSSKZDCZ");
  EXPECT_EQ(backends(world), 6U) << "three servers, two slots each";
  for (ScriptedClient* const client : clients)
    world.end(*client);
  world.expect_nothing_left();
}

// Who is given a connection that came back leaves behind the one that is being opened for it.
TEST(SessionTransaction, OpensNoSecondConnectionWhereOneIsOnItsWay) {
  SessionWorld world(kAtPrimary);
  ScriptedServer& server = world.server("p");
  ScriptedClient& first = world.ready_client();
  ScriptedClient& second = world.ready_client();
  first.query("BEGIN");
  world.settle();
  server.stop = ScriptedServer::Stop::BeforeReady;
  second.query("BEGIN");
  world.settle();
  ASSERT_EQ(server.backends().size(), 2U);
  first.query("COMMIT");
  world.settle();
  EXPECT_EQ(second.types(), "RSSKZCZ") << "by the first one's connection";
  first.query("SELECT 1");
  world.settle();
  EXPECT_EQ(server.backends().size(), 2U) << "it waits for the one that was begun for the second";
  // That one fails, and is the first one's failure.
  world.run_for(1min);
  EXPECT_EQ(first.types(), "RSSKZCZCZEZ");
  EXPECT_EQ(server.open_backends(), 1U);
  server.stop = ScriptedServer::Stop::Nowhere;
  first.query("SELECT 1");
  world.settle();
  EXPECT_EQ(first.types(), "RSSKZCZCZEZDCZ");
  world.end(first);
  world.end(second);
  world.expect_nothing_left();
}

// But not for long: it may hang where a new one would not.
TEST(SessionTransaction, RestsNoHopeOnAnOpeningThatHangs) {
  SessionWorld world(kAtPrimary);
  ScriptedServer& server = world.server("p");
  std::vector<ScriptedClient*> clients;
  for (int i = 0; i < 4; ++i)
    clients.push_back(&world.ready_client());
  clients[0]->query("BEGIN");
  world.settle();
  server.stop = ScriptedServer::Stop::BeforeReady;
  for (int i = 1; i < 4; ++i)
    clients[i]->query("SELECT 1");
  world.settle();
  ASSERT_EQ(server.backends().size(), 4U);
  for (int i = 1; i < 4; ++i)
    world.connect().cancel(*clients[i]);
  world.run_for(1100ms);
  server.stop = ScriptedServer::Stop::Nowhere;
  for (int i = 1; i < 4; ++i)
    clients[i]->query("SELECT 1");
  world.settle();
  for (int i = 1; i < 4; ++i)
    EXPECT_EQ(clients[i]->types(), "RSSKZEZDCZ");
  EXPECT_EQ(server.backends().size(), 7U);
  world.run_for(1min);
  EXPECT_EQ(server.open_backends(), 1U)
      << "a server with connections that hung is in doubt: none is kept idle";
  for (ScriptedClient* const client : clients)
    world.end(*client);
  world.expect_nothing_left();
}

// An opening's failure is one waiter's.
TEST(SessionTransaction, EachThatWaitsHearsOfAFailureOfItsOwn) {
  SessionWorld world(kAtPrimary);
  ScriptedServer& server = world.server("p");
  ScriptedClient& first = world.ready_client();
  std::vector<ScriptedClient*> others;
  for (int i = 0; i < 4; ++i)
    others.push_back(&world.ready_client());
  first.query("BEGIN");
  world.settle();
  server.stop = ScriptedServer::Stop::BeforeReady;
  for (ScriptedClient* const client : others)
    client->query("SELECT 1");
  world.settle();
  EXPECT_EQ(server.backends().size(), 5U);
  world.run_for(1min);
  for (ScriptedClient* const client : others)
    EXPECT_EQ(client->types(), "RSSKZEZ");
  EXPECT_EQ(server.open_backends(), 1U);
  EXPECT_EQ(server.backends().size(), 5U) << "no further attempt for those who are not there any more";
  world.end(first);
  for (ScriptedClient* const client : others)
    world.end(*client);
  world.expect_nothing_left();
}

TEST(SessionTransaction, IsForUsersAndDatabasesThatAskForIt) {
  SessionWorld world("users: [{name: trusted, pool_mode: transaction}]\n");
  ScriptedClient& pooled = world.ready_client("trusted");
  ScriptedClient& other = world.ready_client("alice");
  pooled.query("SELECT 1");
  other.query("SELECT 2");
  world.settle();
  world.end(other);
  world.end(pooled);
  EXPECT_EQ(world.worker().transaction_pools().count(), 2U)
      << "one of its login, one beside the other session";
  EXPECT_EQ(world.shared().pool.size(), 1U);
  world.expect_nothing_left();
}

}  // namespace
}  // namespace sluice::router::test
