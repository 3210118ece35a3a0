// Sessions that wait for a slot (max_active), on a simulated clock and network.

#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "tests/router/session_world.h"

namespace sluice::router::test {
namespace {

using namespace std::chrono_literals;
using fakes::ScriptedClient;

// One slot on each of the three replicas.
constexpr std::string_view kOneEach = "max_active: 1\nquery_wait_notify: 5\nquery_wait_timeout: 20\n";

std::vector<ScriptedClient*> fill(SessionWorld& world) {
  std::vector<ScriptedClient*> clients;
  for (int i = 0; i < 3; ++i)
    clients.push_back(&world.ready_client());
  return clients;
}

void end_all(SessionWorld& world, const std::vector<ScriptedClient*>& clients) {
  for (ScriptedClient* client : clients)
    client->terminate();
  world.settle();
  world.expect_nothing_left();
}

TEST(SessionQueue, GivesAFreedSlotToTheFirstThatWaits) {
  SessionWorld world(kOneEach);
  std::vector<ScriptedClient*> clients = fill(world);
  ScriptedClient& first = world.client();
  ScriptedClient& second = world.client();
  world.run_for(1s);
  EXPECT_FALSE(first.ready());
  EXPECT_EQ(world.reading().total(telemetry::metric::sessions_waiting), 2);
  const std::size_t backends = world.server("b").backends().size();
  clients[1]->terminate();
  world.settle();
  EXPECT_TRUE(first.ready());
  EXPECT_FALSE(second.ready());
  EXPECT_EQ(world.last_server(), "b");
  EXPECT_EQ(world.server("b").backends().size(), backends) << "it has the connection of the session before";
  clients[1] = &first;
  clients[0]->terminate();
  world.settle();
  EXPECT_TRUE(second.ready());
  clients[0] = &second;
  EXPECT_EQ(world.reading().total(telemetry::metric::sessions_waiting), 0);
  end_all(world, clients);
}

TEST(SessionQueue, TellsAClientOnceThatItIsQueued) {
  SessionWorld world(kOneEach);
  std::vector<ScriptedClient*> clients = fill(world);
  ScriptedClient& waits = world.client();
  world.run_for(4900ms);
  EXPECT_EQ(waits.types(), "");
  world.run_for(200ms);
  EXPECT_EQ(waits.types(), "RN");
  world.run_for(10s);
  EXPECT_EQ(waits.types(), "RN");
  clients[0]->terminate();
  world.settle();
  EXPECT_TRUE(waits.ready());
  clients[0] = &waits;
  end_all(world, clients);
}

// B01: not once more when there is a slot at last.
TEST(SessionQueue, NegotiatesTheVersionOnceWithAClientThatWaits) {
  for (const auto& [version, negotiated] : {std::pair(0x00030002U, ""), std::pair(0x0003270FU, "v")}) {
    SessionWorld world(kOneEach);
    std::vector<ScriptedClient*> clients = fill(world);
    ScriptedClient& waits = world.connect();
    waits.start("trusted", {}, version);
    world.run_for(6s);
    EXPECT_EQ(waits.types(), std::string(negotiated) + "RN");
    clients[0]->terminate();
    world.settle();
    EXPECT_EQ(waits.types(), std::string(negotiated) + "RNSSKZ");
    EXPECT_EQ(waits.secret().size(), 32U);
    clients[0] = &waits;
    end_all(world, clients);
  }
}

TEST(SessionQueue, GivesUpAfterQueryWaitTimeout) {
  SessionWorld world(kOneEach);
  const std::vector<ScriptedClient*> clients = fill(world);
  ScriptedClient& waits = world.client();
  world.run_for(19900ms);
  EXPECT_FALSE(waits.ended());
  world.run_for(200ms);
  EXPECT_TRUE(waits.ended());
  EXPECT_EQ(waits.sqlstate(), "53300");
  EXPECT_EQ(waits.errors().back().message, "query_wait_timeout");
  EXPECT_EQ(world.reading().value(telemetry::metric::sessions_rejected_total,
                                  telemetry::RejectReason::QueryWaitTimeout),
            1);
  end_all(world, clients);
}

TEST(SessionQueue, RefusesAtOnceBeyondMaxWaiting) {
  SessionWorld world("max_active: 1\nmax_waiting: 1\n");
  std::vector<ScriptedClient*> clients = fill(world);
  ScriptedClient& waits = world.client();
  world.settle();
  ScriptedClient& refused = world.client();
  world.settle();
  EXPECT_TRUE(refused.ended());
  EXPECT_EQ(refused.sqlstate(), "53300");
  EXPECT_NE(refused.errors().back().message.find("max_waiting"), std::string::npos);
  clients.front()->terminate();
  world.settle();
  EXPECT_TRUE(waits.ready());
  clients.front() = &waits;
  end_all(world, clients);
}

TEST(SessionQueue, ForgetsAClientThatLeavesWhileItWaits) {
  SessionWorld world(kOneEach);
  std::vector<ScriptedClient*> clients = fill(world);
  ScriptedClient& leaves = world.client();
  world.run_for(500ms);
  leaves.peer().reset();
  world.run_for(2s);
  EXPECT_EQ(world.reading().total(telemetry::metric::sessions_waiting), 0);
  end_all(world, clients);
}

TEST(SessionQueue, EndsWithTheRouter) {
  SessionWorld world(kOneEach);
  fill(world);
  world.client();
  world.run_for(500ms);
  world.shut_down();
}

TEST(SessionQueue, HoldsForThePrimaryToo) {
  SessionWorld world("max_active: 1\ndatabases: [{name: app, target: primary}]\n");
  ScriptedClient& first = world.connect();
  first.start("trusted");
  world.settle();
  ASSERT_TRUE(first.ready()) << first.sqlstate();
  ScriptedClient& second = world.connect();
  second.start("trusted");
  world.run_for(1s);
  EXPECT_FALSE(second.ready());
  first.terminate();
  world.settle();
  EXPECT_TRUE(second.ready());
  end_all(world, {&second});
}

}  // namespace
}  // namespace sluice::router::test
