// Sessions in transaction mode: what becomes of a client's last words, and of what it had set, when it or a
// server goes.

#include <gtest/gtest.h>

#include "protocol/backend_messages.h"
#include "protocol/frontend_messages.h"
#include "tests/router/session_world.h"

namespace sluice::router::test {
namespace {

using namespace std::chrono_literals;
using fakes::Backend;
using fakes::ScriptedClient;
using fakes::ScriptedServer;

constexpr std::string_view kTransactions = "pool_mode: transaction\n";

// An INSERT, and then the end: with PostgreSQL it counts.
TEST(TransactionEnd, WhatAClientSentBeforeItLeftIsRunOnceItsConnectionIsOpen) {
  SessionWorld world(kTransactions);
  ScriptedClient& client = world.ready_client();
  world.server("a").last().die("57P01");
  world.settle();
  world.server("a").stop = ScriptedServer::Stop::AtConnect;
  client.query("INSERT");
  client.peer().close();
  world.run_for(3s);
  Backend& opening = world.server("a").backends().back();
  EXPECT_FALSE(opening.logged_in());
  opening.peer().resume();
  world.settle();
  EXPECT_EQ(opening.heard(), (std::vector<std::string>{"Q:INSERT"}));
  world.expect_nothing_left();
}

TEST(TransactionEnd, OfAMessageThatIsNotWholeNothingIsWaitedFor) {
  SessionWorld world(kTransactions);
  ScriptedClient& client = world.ready_client();
  Bytes query;
  protocol::append_query(query, "INSERT");
  client.send(ByteView(query).first(query.size() - 2));
  world.settle();
  client.peer().close();
  world.settle();
  EXPECT_TRUE(world.server("a").last().heard().empty());
  world.expect_nothing_left();
}

// B64: PostgreSQL does not even answer a batch before its Sync, which will not come.
TEST(TransactionEnd, ABatchWithoutItsSyncKeepsNoServer) {
  for (const bool polite : {false, true}) {
    SessionWorld world(kTransactions);
    world.server("a").on_message = [](Backend&, char type, std::string_view) { return type != 'X'; };
    ScriptedClient& client = world.ready_client();
    Bytes batch;
    protocol::append_parse(batch, "", "INSERT");
    protocol::append_bind(batch, "", "");
    protocol::append_execute(batch, "", 0);
    client.send(batch);
    world.settle();
    EXPECT_EQ(world.server("a").last().heard().size(), 3U);
    polite ? client.terminate() : client.peer().close();
    world.settle();
    EXPECT_EQ(world.server("a").open_backends(), 0U);
    EXPECT_TRUE(world.server("a").cancels().empty()) << "it has heard the end, and no cancel is due";
    world.expect_nothing_left();
  }
}

TEST(TransactionEnd, HalfAMessageBehindAQueryKeepsNoServer) {
  SessionWorld world(kTransactions);
  world.server("a").on_message = [](Backend&, char type, std::string_view) { return type == 'Q'; };
  ScriptedClient& client = world.ready_client();
  Bytes bytes;
  protocol::append_query(bytes, "INSERT");
  protocol::append_bind(bytes, "", "");  // its beginning goes to the server, as a Query's does not
  client.send(ByteView(bytes).first(bytes.size() - 1));
  world.settle();
  client.peer().close();
  world.settle();
  EXPECT_EQ(world.server("a").last().heard(), (std::vector<std::string>{"Q:INSERT"}));
  EXPECT_EQ(world.server("a").open_backends(), 0U) << "it has heard the end";
  world.expect_nothing_left();
}

TEST(TransactionEnd, HalfAQueryBehindAQueryIsForgotten) {
  SessionWorld world(kTransactions);
  world.server("a").on_message = [](Backend&, char, std::string_view text) { return text == "INSERT"; };
  ScriptedClient& client = world.ready_client();
  Bytes bytes;
  protocol::append_query(bytes, "INSERT");
  protocol::append_query(bytes, "SELECT 1");
  client.send(ByteView(bytes).first(bytes.size() - 2));
  world.settle();
  client.peer().close();
  world.settle();
  Bytes answer;
  protocol::append_command_complete(answer, "INSERT 0 1");
  protocol::append_ready_for_query(answer, 'I');
  world.server("a").last().send(answer);
  world.settle();
  EXPECT_EQ(world.server("a").last().heard(), (std::vector<std::string>{"Q:INSERT"}));
  world.expect_nothing_left();
}

TEST(TransactionEnd, HalfAMessageThatKeepsAServerCountsAsATransaction) {
  for (const std::string limit : {"idle_transaction_timeout", "transaction_timeout"}) {
    SessionWorld world(std::string(kTransactions) + limit + ": 10\n");
    ScriptedClient& client = world.ready_client();
    ScriptedClient& idle = world.ready_client();
    Bytes query;
    protocol::append_query(query, "SELECT '" + std::string(100'000, 'x') + "'");
    const bool drip = limit == "transaction_timeout";
    client.send(ByteView(query).first(50'000));
    for (int i = 0; i < 9; ++i) {
      world.run_for(1s);
      if (drip) client.send(ByteView(query).subspan(50'000 + static_cast<std::size_t>(i), 1));
    }
    EXPECT_EQ(world.admission().snapshot().replicas[0].total_load, 1);
    EXPECT_FALSE(client.ended());
    world.run_for(2s);
    EXPECT_EQ(client.sqlstate(), drip ? "25P04" : "25P03");
    EXPECT_TRUE(client.ended());
    world.run_for(1min);
    EXPECT_FALSE(idle.ended());
    world.end(idle);
    world.expect_nothing_left();
  }
}

}  // namespace
}  // namespace sluice::router::test
