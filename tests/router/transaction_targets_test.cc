// Which server a transaction may have, on a simulated clock and network.

#include <algorithm>

#include <gtest/gtest.h>

#include "protocol/backend_messages.h"
#include "protocol/frontend_messages.h"
#include "tests/router/session_world.h"

namespace sluice::router::test {
namespace {

using namespace std::chrono_literals;
using fakes::ScriptedClient;
using Names = std::vector<std::string>;

// B62: libpq's target_session_attrs goes by what a client is greeted with.
TEST(TransactionTargets, AClientIsGreetedAsByTheServersOfItsDatabase) {
  SessionWorld world(
      "pool_mode: transaction\n"
      "databases: [{name: app, target: primary}, {name: reads, server_database: app, target: replicas}]\n");
  for (const std::string name : {"a", "b", "c", "p"})
    protocol::append_parameter_status(world.server(name).before_ready, "in_hot_standby",
                                      name == "p" ? "off" : "on");
  std::vector<ScriptedClient*> clients;
  for (const std::string database : {"reads", "app", "reads", "app"}) {
    ScriptedClient& client = world.connect();
    Bytes start;
    const std::vector<protocol::StartupParameter> parameters = {{"user", "trusted"}, {"database", database}};
    protocol::append_startup_message(start, parameters);
    client.send(start);
    EXPECT_TRUE(world.run_until([&] { return client.ready(); }));
    EXPECT_EQ(client.parameter("in_hot_standby"), database == "app" ? "off" : "on");
    clients.push_back(&client);
  }
  for (ScriptedClient* client : clients)
    world.end(*client);
  world.expect_nothing_left();
}

class ReadYourWrites : public testing::Test {
 protected:
  ReadYourWrites()
      : world(
            "pool_mode: transaction\nmax_active: 1\nquery_wait_timeout: 60\n"
            "databases: [{name: app, target: replicas, read_your_writes: on}]\n") {
    set_position("a", 1);
  }
  void set_position(const std::string& name, std::optional<std::uint64_t> position) {
    world.shared().replay_positions.set(*world.admission().find_replica(name), position);
  }
  void say(ScriptedClient& client, std::string_view sql) {
    client.query(sql);
    world.settle();
  }
  // A client that has written what a alone has replayed, and whose read waits there behind another's
  // transaction.
  ScriptedClient& waiting_reader() {
    ScriptedClient& client = world.ready_client();
    say(client, "/* sluice: target=primary */ INSERT");
    EXPECT_EQ(client.ready_count(), 2U);
    say(holder, "BEGIN");
    say(client, "SELECT 1");
    EXPECT_EQ(client.ready_count(), 2U);
    EXPECT_EQ(world.reading().total(telemetry::metric::sessions_waiting), 1);
    return client;
  }
  auto reads_at(const std::string& server) {
    const std::vector<std::string>& heard = world.server(server).last().heard();
    return std::count(heard.begin(), heard.end(), "Q:SELECT 1");
  }
  void end_all(std::initializer_list<ScriptedClient*> clients) {
    for (ScriptedClient* client : clients)
      world.end(*client);
    world.run_for(1s);
    world.expect_nothing_left();
  }

  SessionWorld world;
  ScriptedClient& holder = world.ready_client();
};

TEST_F(ReadYourWrites, AReaderWaitsForTheReplicaThatHasWhatItWrote) {
  ScriptedClient& client = waiting_reader();
  world.run_for(5s);
  EXPECT_EQ(client.ready_count(), 2U);
  say(holder, "COMMIT");
  EXPECT_EQ(client.ready_count(), 3U);
  EXPECT_EQ(reads_at("a"), 1);
  end_all({&holder, &client});
}

TEST_F(ReadYourWrites, AReplicaThatGoesDownWhileOneWaitsForItIsNotWaitedFor) {
  ScriptedClient& client = waiting_reader();
  set_position("a", std::nullopt);
  world.admission().set_up(*world.admission().find_replica("a"), false);
  world.run_for(2s);
  EXPECT_EQ(client.ready_count(), 3U);
  EXPECT_EQ(reads_at("p"), 1) << "b and c lack what it wrote";
  say(holder, "COMMIT");
  end_all({&holder, &client});
}

TEST_F(ReadYourWrites, NorIsOneThatIsDrained) {
  ScriptedClient& client = waiting_reader();
  world.admission().set_draining("a", true);
  world.run_for(2s);
  EXPECT_EQ(client.ready_count(), 3U);
  EXPECT_EQ(reads_at("p"), 1);
  say(holder, "COMMIT");
  end_all({&holder, &client});
}

}  // namespace
}  // namespace sluice::router::test
