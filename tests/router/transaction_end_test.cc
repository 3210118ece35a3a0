// Sessions in transaction mode: what becomes of a client's last words, and of what it had set, when it or a
// server goes.

#include <gtest/gtest.h>

#include "protocol/backend_messages.h"
#include "protocol/error_response.h"
#include "protocol/frontend_messages.h"
#include "tests/router/session_world.h"

namespace sluice::router::test {
namespace {

using namespace std::chrono_literals;
using fakes::Backend;
using fakes::ScriptedClient;
using fakes::ScriptedServer;
namespace metric = telemetry::metric;

constexpr std::string_view kPooled = "pool_mode: transaction\n";
constexpr std::string_view kReadsSetting = "SELECT pg_catalog.left(pg_catalog.current_setting(";
constexpr std::string_view kSetsSetting = "SELECT pg_catalog.set_config(";

Bytes an_error(const std::string& sqlstate, const std::string& message) {
  Bytes out;
  protocol::append_error_response(out, {"ERROR", sqlstate, message, "", ""});
  protocol::append_ready_for_query(out, 'I');
  return out;
}

Bytes a_cancel() {
  return an_error("57014", "canceling statement due to user request");
}

Bytes time_zone(std::string_view value) {
  Bytes report;
  protocol::append_parameter_status(report, "TimeZone", value);
  return report;
}

// An INSERT, and then the end: with PostgreSQL it counts.
TEST(TransactionEnd, WhatAClientSentBeforeItLeftIsRunOnceItsConnectionIsOpen) {
  SessionWorld world(kPooled);
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
  SessionWorld world(kPooled);
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
    SessionWorld world(kPooled);
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
  SessionWorld world(kPooled);
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
  SessionWorld world(kPooled);
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
    SessionWorld world(std::string(kPooled) + limit + ": 10\n");
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

// B28
TEST(TransactionEnd, ACancelOfWhatTheRouterAsksIsNoErrorOfTheClients) {
  SessionWorld world(kPooled);
  int left = 1;
  world.server("a").on_message = [&left](Backend& backend, char, std::string_view text) {
    if (!text.starts_with(kReadsSetting) || left == 0) return false;
    --left;
    backend.send(a_cancel());
    return true;
  };
  ScriptedClient& client = world.ready_client();
  client.query("SET search_path TO x");
  world.settle();
  client.query("SELECT 1");
  world.settle();
  EXPECT_EQ(client.types(), "RSSKZCZDCZ");
  EXPECT_EQ(left, 0);
  EXPECT_EQ(world.reading().total(metric::sessions_pinned_total), 0);
  EXPECT_EQ(world.admission().snapshot().replicas[0].total_load, 0);
  world.end(client);
  world.expect_nothing_left();
}

TEST(TransactionEnd, SettingsThatCannotBeReadKeepTheirServer) {
  SessionWorld world(kPooled);
  world.server("a").on_message = [](Backend& backend, char, std::string_view text) {
    if (text.starts_with(kReadsSetting)) backend.send(a_cancel());
    return text.starts_with(kReadsSetting);
  };
  ScriptedClient& client = world.ready_client();
  client.query("SET search_path TO x");
  world.settle();
  EXPECT_EQ(world.reading().total(metric::sessions_pinned_total), 1);
  ScriptedClient& other = world.ready_client();
  other.query("SELECT 2");
  client.query("SELECT 1");
  world.settle();
  EXPECT_EQ(client.types(), "RSSKZCZDCZ");
  EXPECT_EQ(world.server("a").last().heard().back(), "Q:SELECT 1");
  EXPECT_EQ(world.server("b").last().heard(), (std::vector<std::string>{"Q:SELECT 2"}));
  world.end(client);
  EXPECT_EQ(world.server("a").last().heard().back(), "Q:DISCARD ALL");
  world.end(other);
  world.expect_nothing_left();
}

// What it had set is gone with it: to go on as if nothing had been would be a lie.
TEST(TransactionEnd, AServerLostBeforeItToldTheSettingsEndsTheSession) {
  SessionWorld world(kPooled);
  world.server("a").on_message = [](Backend& backend, char, std::string_view text) {
    if (text.starts_with(kReadsSetting)) backend.die("57P01");
    return text.starts_with(kReadsSetting);
  };
  ScriptedClient& client = world.ready_client();
  client.query("SET search_path TO x");
  world.settle();
  EXPECT_EQ(client.types(), "RSSKZCZE");
  EXPECT_EQ(client.sqlstate(), "57P01");
  EXPECT_TRUE(client.ended());
  world.expect_nothing_left();
}

TEST(TransactionEnd, AServerThatEndsWhileItTakesSettingsIsReplaced) {
  SessionWorld world(kPooled);
  ScriptedClient& first = world.ready_client();
  ScriptedClient& second = world.ready_client();
  world.server("a").on_message = [](Backend& backend, char, std::string_view text) {
    if (text == "SET TimeZone TO x") backend.send(time_zone("x"));
    if (text.starts_with(kSetsSetting)) backend.die("57P01");
    return text.starts_with(kSetsSetting);
  };
  first.query("SET TimeZone TO x");
  world.settle();
  second.query("SELECT 1");
  world.settle();
  EXPECT_EQ(second.types(), "RSSKZDCZ") << "on a new connection";
  world.end(first);
  world.end(second);
  world.expect_nothing_left();
}

// B63. Was: a setting that another had left, and that this one may not set back, ended it.
TEST(TransactionEnd, WhatAnotherClientLeftIsDiscardedWhereItIsInTheWay) {
  SessionWorld world(kPooled);
  ScriptedClient& first = world.ready_client();
  ScriptedClient& second = world.ready_client();
  bool left = false;
  world.server("a").on_message = [&left](Backend& backend, char, std::string_view text) {
    if (text == "SET TimeZone TO x") {
      left = true;
      backend.send(time_zone("x"));
    } else if (text == "DISCARD ALL") {
      left = false;
      backend.send(time_zone("UTC"));
    } else if (left && text.starts_with(kSetsSetting)) {
      backend.send(an_error("42501", "permission denied to set parameter"));
      return true;
    }
    return false;
  };
  first.query("SET TimeZone TO x");
  world.settle();
  second.query("SELECT 1");
  world.settle();
  EXPECT_EQ(second.types(), "RSSKZDCZ");
  EXPECT_EQ(world.server("a").last().heard(),
            (std::vector<std::string>{"Q:SET TimeZone TO x",
                                      "Q:SELECT pg_catalog.set_config('TimeZone', 'UTC', false)",
                                      "Q:DISCARD ALL", "Q:SELECT 1"}));
  world.end(first);
  world.end(second);
  world.expect_nothing_left();
}

TEST(TransactionEnd, ASettingThatACleanServerRefusesEndsItsSession) {
  SessionWorld world(kPooled);
  ScriptedClient& first = world.ready_client();
  ScriptedClient& second = world.ready_client();
  world.server("a").on_message = [](Backend& backend, char, std::string_view text) {
    if (text == "SET TimeZone TO x") backend.send(time_zone("x"));
    if (text == "DISCARD ALL") backend.send(time_zone("UTC"));
    if (!text.starts_with(kSetsSetting)) return false;
    backend.send(an_error("42501", "permission denied to set parameter"));
    return true;
  };
  first.query("SET TimeZone TO x");
  world.settle();
  second.query("SELECT 1");
  world.settle();
  EXPECT_EQ(second.types(), "RSSKZDCZ");
  first.query("SELECT 2");
  world.settle();
  EXPECT_EQ(first.types(), "RSSKZSCZE");
  EXPECT_EQ(first.sqlstate(), "42501");
  EXPECT_TRUE(first.ended());
  world.end(second);
  world.expect_nothing_left();
}

}  // namespace
}  // namespace sluice::router::test
