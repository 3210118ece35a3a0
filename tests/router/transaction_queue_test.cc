// Transactions that wait for a slot (max_active), on a simulated clock and network: one replica, one slot.

#include <algorithm>
#include <cstdint>
#include <utility>

#include <gtest/gtest.h>

#include "config/config.h"
#include "protocol/backend_messages.h"
#include "protocol/frontend_messages.h"
#include "router/derive.h"
#include "tests/router/session_world.h"

namespace sluice::router::test {
namespace {

using namespace std::chrono_literals;
using fakes::ScriptedClient;
namespace metric = telemetry::metric;

constexpr std::string_view kOneSlot =
    "pool_mode: transaction\n"
    "max_active: 1\n"
    "query_wait_notify: 5\n"
    "query_wait_timeout: 20\n"
    "queue_ageing: 10\n"
    "rules: [{user: alice, class: premium}]\n";

class TransactionQueue : public testing::Test {
 protected:
  explicit TransactionQueue(std::string_view more = "") : world(std::string(kOneSlot) + std::string(more)) {
    for (const std::string name : {"b", "c"})
      world.admission().set_draining(name, true);
    world.server("a").on_message = [this](fakes::Backend&, char type, std::string_view text) {
      if (type == 'Q' && text.starts_with("SELECT")) served.emplace_back(text.substr(7));
      return false;
    };
  }

  ScriptedClient& begin(std::string_view user = "trusted") {
    ScriptedClient& client = world.ready_client(user);
    client.query("BEGIN");
    world.settle();
    EXPECT_EQ(client.ready_count(), 2U);
    return client;
  }
  void say(ScriptedClient& client, std::string_view sql) {
    client.query(sql);
    world.settle();
  }
  // A new client whose query "SELECT name" has to wait.
  ScriptedClient& waiter(std::string_view name, std::string_view user = "trusted") {
    ScriptedClient& client = world.ready_client(user);
    const std::int64_t before = waiting();
    say(client, "SELECT " + std::string(name));
    EXPECT_EQ(waiting(), before + 1);
    EXPECT_EQ(client.ready_count(), 1U);
    return client;
  }
  std::int64_t waiting() { return world.reading().total(metric::sessions_waiting); }
  std::int64_t load() { return world.admission().snapshot().replicas[0].total_load; }
  void end_all(std::initializer_list<ScriptedClient*> clients) {
    for (ScriptedClient* client : clients)
      world.end(*client);
    world.run_for(1s);
    world.expect_nothing_left();
  }

  SessionWorld world;
  std::vector<std::string> served;  // in this order
};
using Names = std::vector<std::string>;

TEST_F(TransactionQueue, ServesThoseThatWaitInTheOrderOfTheirArrival) {
  ScriptedClient& holder = begin();
  std::vector<ScriptedClient*> clients;
  for (const std::string name : {"1", "2", "3", "4"})
    clients.push_back(&waiter(name));
  EXPECT_EQ(load(), 1);
  say(holder, "COMMIT");
  EXPECT_EQ(served, (Names{"1", "2", "3", "4"}));
  EXPECT_EQ(waiting(), 0);
  EXPECT_EQ(load(), 0);
  EXPECT_EQ(world.server("a").backends().size(), 1U) << "one connection is enough for one slot";
  end_all({&holder, clients[0], clients[1], clients[2], clients[3]});
}

TEST_F(TransactionQueue, LetsNoNewcomerOvertake) {
  ScriptedClient& holder = begin();
  ScriptedClient& first = world.ready_client();
  say(first, "BEGIN");
  EXPECT_EQ(waiting(), 1);
  ScriptedClient& second = waiter("early");
  // The holder asks again at the very moment that it has given its slot back.
  Bytes again;
  protocol::append_query(again, "SELECT late");
  holder.at_ready.push_back(std::move(again));
  say(holder, "COMMIT");
  EXPECT_TRUE(served.empty()) << "who waited first has a transaction now";
  EXPECT_EQ(waiting(), 2);
  say(first, "COMMIT");
  EXPECT_EQ(served, (Names{"early", "late"}));
  end_all({&holder, &first, &second});
}

TEST_F(TransactionQueue, ServesTheHigherClassFirstAndTheAgedBeforeAll) {
  world.end(world.ready_client("alice"));  // the first of a pool needs a server to be greeted
  ScriptedClient& holder = begin();
  ScriptedClient& low = waiter("low");
  ScriptedClient& high = waiter("high", "alice");
  say(holder, "COMMIT");
  EXPECT_EQ(served, (Names{"high", "low"}));
  say(holder, "BEGIN");
  say(low, "SELECT aged");
  world.run_for(10s);
  say(high, "SELECT young");
  ScriptedClient& later = waiter("last");
  say(holder, "COMMIT");
  EXPECT_EQ(served, (Names{"high", "low", "aged", "young", "last"}));
  end_all({&holder, &low, &high, &later});
}

TEST_F(TransactionQueue, BoundsTheWaitOfALowClassUnderAFloodOfAHighOne) {
  constexpr int kFlood = 6;
  ScriptedClient& low = world.ready_client();
  std::vector<ScriptedClient*> flood;
  for (int i = 0; i < kFlood; ++i)
    flood.push_back(&world.ready_client("alice"));
  // Each answer takes a second; each client of the flood asks again at once.
  int asked = 0;
  for (ScriptedClient* client : flood)
    for (int i = 0; i < 30; ++i) {
      Bytes query;
      protocol::append_query(query, "SELECT flood " + std::to_string(++asked));
      client->at_ready.push_back(std::move(query));
    }
  std::vector<fakes::Backend*> busy;
  world.server("a").on_message = [&](fakes::Backend& backend, char type, std::string_view text) {
    if (type != 'Q' || !text.starts_with("SELECT")) return false;
    served.emplace_back(text.substr(7));
    busy.push_back(&backend);
    return true;
  };
  const auto answer = [&] {
    world.run_for(1s);
    ASSERT_EQ(busy.size(), 1U);
    Bytes out;
    protocol::append_command_complete(out, "SELECT 0");
    protocol::append_ready_for_query(out, 'I');
    std::exchange(busy, {}).front()->send(out);
    world.settle();
  };
  for (ScriptedClient* client : flood)
    client->query("SELECT flood");
  world.settle();
  answer();
  low.query("SELECT low");
  world.settle();
  const auto has_low = [&] { return std::find(served.begin(), served.end(), "low") != served.end(); };
  int answers = 0;
  while (!has_low() && answers < 60) {
    answer();
    ++answers;
  }
  // queue_ageing of 10 s, and one slot for each that came before it and is not served yet.
  EXPECT_GE(answers, 10);
  EXPECT_LE(answers, 10 + kFlood);
  for (ScriptedClient* client : flood)
    client->peer().reset();
  low.peer().reset();
  world.run_for(1min);
  world.expect_nothing_left();
}

TEST_F(TransactionQueue, TellsTheClientOnceAndThenGivesUp) {
  ScriptedClient& holder = begin();
  ScriptedClient& waits = waiter("late");
  const std::string greeting = waits.types();
  world.run_for(4s);
  EXPECT_EQ(waits.types(), greeting);
  world.run_for(2s);
  EXPECT_EQ(waits.types(), greeting + "N");
  world.run_for(13s);
  EXPECT_EQ(waits.types(), greeting + "N");
  world.run_for(2s);
  EXPECT_EQ(waits.types(), greeting + "NEZ") << "the session goes on";
  EXPECT_EQ(waits.sqlstate(), "53300");
  EXPECT_EQ(waits.errors().back().message, "query_wait_timeout");
  EXPECT_NE(waits.errors().back().detail.find("max_active"), std::string::npos);
  EXPECT_EQ(waiting(), 0);
  EXPECT_EQ(world.reading().value(metric::sessions_rejected_total, telemetry::RejectReason::QueryWaitTimeout),
            1);
  say(waits, "SELECT again");
  say(holder, "COMMIT");
  EXPECT_EQ(served, (Names{"again"}));
  EXPECT_EQ(waits.types(), greeting + "NEZDCZ");
  end_all({&holder, &waits});
}

class TransactionQueueBySize : public TransactionQueue {
 protected:
  TransactionQueueBySize()
      : TransactionQueue(
            "isolation: strict\norder_within_pool: sita_e\ntrust_size_option_users: [trusted]\n") {}
  ScriptedClient& sized_client() {
    ScriptedClient& client = world.connect();
    client.start("trusted", {{"options", "-c sluice.size=250ms"}});
    EXPECT_TRUE(world.run_until([&] { return client.ready(); }));
    return client;
  }
};

// Was: a second arrival, in what the policy knows of sizes, and with a place at the end of the queue.
TEST_F(TransactionQueueBySize, CountsATransactionOnceThoughItsServerIsLostInAHandOver) {
  ScriptedClient& one = sized_client();
  ScriptedClient& other = sized_client();
  say(one, "SELECT 1");
  const auto sizes = [this] { return world.admission().size_pools().at(0).sizes; };
  const std::uint64_t before = sizes();
  bool lost = false;
  const auto usual = world.server("a").on_message;
  world.server("a").on_message = [&](fakes::Backend& backend, char type, std::string_view text) {
    if (text != "DISCARD ALL" || std::exchange(lost, true)) return usual(backend, type, text);
    backend.die("57P01");
    return true;
  };
  say(other, "SELECT 2");
  world.run_for(1s);
  EXPECT_TRUE(lost);
  EXPECT_EQ(served, (Names{"1", "2"}));
  EXPECT_EQ(sizes(), before + 1);
  end_all({&one, &other});
}

class TransactionQueueOfTwo : public TransactionQueue {
 protected:
  TransactionQueueOfTwo() : TransactionQueue("max_waiting: 2\n") {}
};

TEST_F(TransactionQueueOfTwo, RefusesAtOnceBeyondMaxWaiting) {
  ScriptedClient& holder = begin();
  ScriptedClient& first = waiter("1");
  ScriptedClient& second = waiter("2");
  ScriptedClient& third = world.ready_client();
  say(third, "SELECT 3");
  EXPECT_EQ(third.sqlstate(), "53300");
  EXPECT_NE(third.errors().back().message.find("(max_waiting)"), std::string::npos);
  EXPECT_EQ(third.ready_count(), 2U);
  EXPECT_EQ(world.reading().value(metric::sessions_rejected_total, telemetry::RejectReason::MaxWaiting), 1);
  say(holder, "COMMIT");
  say(third, "SELECT 4");
  EXPECT_EQ(served, (Names{"1", "2", "4"}));
  end_all({&holder, &first, &second, &third});
}

TEST_F(TransactionQueue, ForgetsAClientThatLeavesWhileItWaits) {
  ScriptedClient& holder = begin();
  ScriptedClient& leaves = waiter("gone");
  ScriptedClient& stays = waiter("there");
  leaves.peer().reset();
  world.run_for(2s);
  EXPECT_EQ(waiting(), 1);
  say(holder, "COMMIT");
  EXPECT_EQ(served, (Names{"there"}));
  end_all({&holder, &stays});
}

// What a client left at work is work: its slot is free when the server is clean again.
TEST_F(TransactionQueue, KeepsTheSlotOfAClientThatLeftUntilItsServerIsClean) {
  ScriptedClient& holder = begin();
  ScriptedClient& next = waiter("next");
  world.server("a").reset = fakes::ScriptedServer::Reset::StaysSilent;
  world.end(holder);
  world.run_for(1s);
  EXPECT_EQ(world.server("a").last().heard().back(), "Q:DISCARD ALL");
  EXPECT_EQ(load(), 1);
  EXPECT_EQ(waiting(), 1);
  EXPECT_EQ(world.server("a").open_backends(), 1U);
  Bytes answer;
  protocol::append_command_complete(answer, "DISCARD ALL");
  protocol::append_ready_for_query(answer, 'I');
  world.server("a").last().send(answer);
  world.settle();
  EXPECT_EQ(served, (Names{"next"}));
  EXPECT_EQ(world.server("a").backends().size(), 1U) << "on the same connection";
  EXPECT_EQ(load(), 0);
  end_all({&next});
}

TEST_F(TransactionQueue, KeepsTheSlotOfACancelledQueryUntilTheServerHasTakenTheCancel) {
  ScriptedClient& holder = begin();
  ScriptedClient& next = waiter("next");
  world.server("a").hold_cancels = true;
  say(holder, "wait");
  holder.peer().reset();
  world.run_for(1s);
  ASSERT_EQ(world.server("a").cancels().size(), 1U);
  EXPECT_EQ(load(), 1);
  EXPECT_TRUE(served.empty());
  world.run_for(15s);  // more than cancel_wait_timeout
  EXPECT_EQ(served, (Names{"next"}));
  EXPECT_EQ(load(), 0);
  end_all({&next});
}

TEST_F(TransactionQueue, GivesTheSlotOfAServerThatCannotBeCleanedToTheNext) {
  ScriptedClient& holder = begin();
  ScriptedClient& next = waiter("next");
  world.server("a").reset = fakes::ScriptedServer::Reset::Fails;
  world.end(holder);
  world.run_for(1s);
  EXPECT_EQ(served, (Names{"next"}));
  EXPECT_EQ(world.server("a").backends().size(), 2U);
  EXPECT_EQ(load(), 0);
  world.server("a").reset = fakes::ScriptedServer::Reset::Confirms;
  end_all({&next});
}

// B23
TEST_F(TransactionQueue, CancelsWhatWaits) {
  ScriptedClient& holder = begin();
  ScriptedClient& cancelled = waiter("cancelled");
  ScriptedClient& stays = waiter("there");
  world.connect().cancel(cancelled);
  world.settle();
  EXPECT_EQ(cancelled.sqlstate(), "57014");
  EXPECT_EQ(cancelled.ready_count(), 2U);
  EXPECT_EQ(waiting(), 1);
  EXPECT_TRUE(world.server("a").cancels().empty());
  say(holder, "COMMIT");
  EXPECT_EQ(served, (Names{"there"}));
  say(cancelled, "SELECT next");
  EXPECT_EQ(served, (Names{"there", "next"}));
  end_all({&holder, &cancelled, &stays});
}

TEST_F(TransactionQueue, HoldsThoseThatWaitAtThePausedGateInTheirOrder) {
  ScriptedClient& holder = begin();
  ScriptedClient& first = waiter("1");
  ScriptedClient& second = waiter("2");
  world.shared().pause("app");
  say(holder, "COMMIT");
  world.run_for(2s);
  EXPECT_TRUE(served.empty());
  EXPECT_EQ(load(), 0) << "PAUSE waits for none of them";
  world.shared().resume("app");
  world.run_for(2s);
  EXPECT_EQ(served, (Names{"1", "2"}));
  end_all({&holder, &first, &second});
}

TEST_F(TransactionQueue, FollowsDrainingAndTheReturnOfReplicas) {
  ScriptedClient& holder = begin();
  ScriptedClient& first = waiter("1");
  world.admission().set_draining("a", true);
  say(holder, "COMMIT");
  EXPECT_TRUE(served.empty());
  world.admission().set_draining("b", false);
  world.settle();
  EXPECT_EQ(first.ready_count(), 2U);
  EXPECT_EQ(world.server("b").last().heard(), (Names{"Q:SELECT 1"}));
  end_all({&holder, &first});
}

TEST_F(TransactionQueue, FollowsAReloadOfMaxActive) {
  const auto reload = [this](std::int64_t max_active) {
    policy::PoolConfig pools = config::pool_config(*world.worker().snapshot()->config);
    for (policy::ReplicaConfig& replica : pools.replicas)
      replica.max_active = max_active;
    world.admission().reconfigure(pools, admission_limits(world.worker().snapshot()->config));
    world.settle();
  };
  ScriptedClient& holder = begin();
  ScriptedClient& first = waiter("1");
  ScriptedClient& second = waiter("2");
  reload(2);
  EXPECT_EQ(served, (Names{"1", "2"})) << "one after the other beside the holder";
  say(first, "BEGIN");
  reload(1);
  EXPECT_EQ(load(), 2) << "what runs goes on";
  ScriptedClient& third = waiter("3");
  say(first, "COMMIT");
  EXPECT_EQ(waiting(), 1);
  say(holder, "COMMIT");
  EXPECT_EQ(served, (Names{"1", "2", "3"}));
  say(holder, "BEGIN");
  say(first, "SELECT 4");
  reload(0);
  EXPECT_EQ(served.back(), "4") << "no limit any more";
  say(holder, "COMMIT");
  end_all({&holder, &first, &second, &third});
}

TEST_F(TransactionQueue, EndsWithTheRouter) {
  begin();
  waiter("never");
  world.shut_down();
}

TEST_F(TransactionQueue, KeepsThePlaceOfOneThatFoundItsReplicaDead) {
  ScriptedClient& holder = begin();
  world.admission().set_draining("b", false);
  ScriptedClient& other = begin();
  ScriptedClient& first = waiter("1");
  ScriptedClient& second = waiter("2");
  world.server("a").go_down();
  world.server("a").last().die("57P01");
  world.settle();
  EXPECT_TRUE(holder.ended());
  EXPECT_EQ(world.failed(), (Names{"a"}));
  EXPECT_EQ(waiting(), 2);
  say(other, "COMMIT");
  EXPECT_EQ(world.server("b").last().heard(), (Names{"Q:BEGIN", "Q:COMMIT", "Q:SELECT 1", "Q:SELECT 2"}));
  end_all({&other, &first, &second});
}

TEST_F(TransactionQueue, NotesOnlyDecisionsThatTellSomething) {
  ScriptedClient& client = world.ready_client();
  const std::size_t before = world.admission().decisions().size();
  for (int i = 0; i < 5; ++i)
    say(client, "SELECT 1");
  EXPECT_EQ(world.admission().decisions().size(), before);
  world.admission().set_draining("a", true);
  say(client, "SELECT 1");
  ASSERT_EQ(world.admission().decisions().size(), before + 1);
  EXPECT_EQ(world.admission().decisions().back().outcome, policy::Outcome::Refused);
  end_all({&client});
}

}  // namespace
}  // namespace sluice::router::test
