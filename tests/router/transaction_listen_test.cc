// LISTEN and NOTIFY in transaction mode: what a client is told of its own transaction, on a simulated clock
// and network.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "protocol/backend_messages.h"
#include "protocol/frontend_messages.h"
#include "tests/router/session_world.h"

namespace sluice::router::test {
namespace {

using namespace std::chrono_literals;
using fakes::Backend;
using fakes::ScriptedClient;
namespace metric = telemetry::metric;

// The primary, as far as LISTEN goes: NOTIFY x reaches the connection that listens when it is committed,
// before the answer to that.
class TransactionListen : public testing::Test {
 protected:
  TransactionListen()
      : world(
            "pool_mode: transaction\nquery_wait_timeout: 20\nquery_timeout: 10\n"
            "databases: [{name: '*', target: primary}]\n") {
    world.server("p").on_message = [this](Backend& backend, char type, std::string_view text) {
      return on_message(backend, type, text);
    };
  }
  ~TransactionListen() override {
    world.run_for(30s);
    world.expect_nothing_left();
  }

  bool on_message(Backend& backend, char type, std::string_view text) {
    if (type == 'P') parsed = text;
    if (type == 'Q' && text.starts_with("LISTEN \"")) {
      listener = &backend;
      return silent;
    }
    if (&backend == listener) return false;
    if (skipping && type != 'S') return true;
    if (type != 'Q' && type != 'E' && type != 'S') return false;
    if (working == &backend) return true;  // of what comes behind SLOW it takes no notice
    const std::string_view sql = type == 'E' ? std::string_view(parsed) : text;
    if (sql.starts_with("SLOW")) {
      working = &backend;
      return true;
    }
    if (type != 'S' && (sql == "FAIL" || (failed && sql != "COMMIT" && sql != "ROLLBACK")))
      return fail(backend, type);
    if (in_block && (sql == "COMMIT" || sql == "ROLLBACK")) failed = false;
    if (type == 'S') skipping = false;
    if (sql.starts_with("NOTIFY")) ++notifies;
    if (sql == "BEGIN") in_block = true;
    if (sql == "COMMIT" || sql == "ROLLBACK") in_block = false;
    if (sql == "ROLLBACK") notifies = 0;
    Bytes out;
    if (type != 'S')
      protocol::append_command_complete(out, sql == "DISCARD ALL" ? sql : sql.substr(0, sql.find(' ')));
    if (type != 'E') {
      for (; notifies > 0 && !in_block; --notifies)
        notify();
      protocol::append_ready_for_query(out, status());
      append(out, behind_ready);
    }
    backend.send(out);
    return true;
  }
  char status() const { return failed ? 'E' : in_block ? 'T' : 'I'; }
  bool fail(Backend& backend, char type) {
    Bytes out;
    protocol::append_error_response(out, {"ERROR", "22012", "division by zero", "", ""});
    failed = in_block;
    skipping = type == 'E';
    if (type == 'Q') protocol::append_ready_for_query(out, status());
    backend.send(out);
    return true;
  }
  // SLOW has been carried out.
  void finish_slow() {
    ASSERT_NE(working, nullptr) << "it has not come to it";
    Bytes out;
    protocol::append_command_complete(out, "SLOW");
    protocol::append_ready_for_query(out, status());
    std::exchange(working, nullptr)->send(out);
  }
  void grant() {
    ASSERT_NE(listener, nullptr) << "nobody listens";
    Bytes answer;
    protocol::append_command_complete(answer, "LISTEN");
    protocol::append_ready_for_query(answer, 'I');
    listener->send(answer);
  }
  void notify() {
    ASSERT_NE(listener, nullptr) << "nobody listens";
    protocol::append_message(message, 'A', as_bytes(std::string_view("\0\0\0\1x\0hello\0", 13)));
    listener->send(message);
    message.clear();
  }
  // What comes in answer, by type.
  std::string say(ScriptedClient& client, const std::vector<std::string>& queries) {
    Bytes all;
    for (const std::string& sql : queries)
      protocol::append_query(all, sql);
    return send(client, all);
  }
  std::string send(ScriptedClient& client, ByteView bytes) {
    const std::size_t before = client.types().size();
    client.send(bytes);
    world.settle();
    return client.types().substr(before);
  }
  static Bytes batch(const std::vector<std::string>& texts) {
    Bytes out;
    for (const std::string& sql : texts) {
      protocol::append_parse(out, "", sql);
      protocol::append_bind(out, "", "");
      protocol::append_execute(out, "", 0);
    }
    protocol::append_sync(out);
    return out;
  }
  std::vector<std::string> heard_by_listener() const { return listener->heard(); }

  SessionWorld world;
  Backend* listener = nullptr;
  Backend* working = nullptr;  // at SLOW
  std::string parsed;
  Bytes message, behind_ready;
  int notifies = 0;
  bool in_block = false, failed = false, skipping = false, silent = false;
};

// Was: lost, as the channel was listened to when the transaction had been committed.
TEST_F(TransactionListen, ATransactionThatListensHearsItself) {
  ScriptedClient& client = world.ready_client();
  for (const std::string sql : {"BEGIN", "LISTEN x", "NOTIFY x"})
    EXPECT_EQ(say(client, {sql}), "CZ");
  EXPECT_EQ(say(client, {"COMMIT"}), "CAZ");
  EXPECT_EQ(world.reading().total(metric::listening_sessions), 1);
  world.end(client);
  EXPECT_EQ(world.reading().total(metric::listening_sessions), 0);
}

TEST_F(TransactionListen, AlsoWhereAllOfItIsSentAtOnce) {
  ScriptedClient& client = world.ready_client();
  EXPECT_EQ(say(client, {"BEGIN", "NOTIFY x", "LISTEN x", "COMMIT"}), "CZCZCZCAZ");
  world.end(client);
}

TEST_F(TransactionListen, AlsoWithinABatch) {
  ScriptedClient& client = world.ready_client();
  EXPECT_EQ(send(client, batch({"LISTEN x", "NOTIFY x"})), "12C12CAZ");
  world.end(client);
}

TEST_F(TransactionListen, WhatWasNotifiedBeforeTheCommitIsNotHeard) {
  ScriptedClient& client = world.ready_client();
  EXPECT_EQ(say(client, {"BEGIN", "LISTEN x"}), "CZCZ");
  notify();
  EXPECT_EQ(say(client, {"SELECT 1"}), "CZ");
  notify();
  world.settle();
  EXPECT_EQ(say(client, {"COMMIT"}), "CZ");
  notify();
  EXPECT_EQ(send(client, {}), "A");
  world.end(client);
}

TEST_F(TransactionListen, WhatIsRolledBackIsNotHeard) {
  ScriptedClient& client = world.ready_client();
  EXPECT_EQ(say(client, {"BEGIN", "LISTEN x", "NOTIFY x"}), "CZCZCZ");
  EXPECT_EQ(say(client, {"ROLLBACK"}), "CZ");
  EXPECT_EQ(heard_by_listener().back(), "Q:UNLISTEN \"x\";");
  notify();
  EXPECT_EQ(send(client, {}), "");
  EXPECT_EQ(world.reading().total(metric::listening_sessions), 0);
  world.end(client);
}

// What comes while the COMMIT is on its way may be its own, or not be committed at all.
TEST_F(TransactionListen, WhatCameWhileItEndedCountsWhenItIsCommitted) {
  ScriptedClient& client = world.ready_client();
  for (const std::string end : {"ROLLBACK", "COMMIT"}) {
    EXPECT_EQ(say(client, {"BEGIN", "LISTEN x"}), "CZCZ");
    const auto usual = world.server("p").on_message;
    Backend* asked = nullptr;
    world.server("p").on_message = [&](Backend& backend, char type, std::string_view text) {
      if (text != end) return usual(backend, type, text);
      asked = &backend;
      return true;
    };
    EXPECT_EQ(say(client, {end}), "");
    notify();
    world.settle();
    ASSERT_NE(asked, nullptr);
    Bytes out;
    protocol::append_command_complete(out, end);
    protocol::append_ready_for_query(out, 'I');
    in_block = false;
    world.server("p").on_message = usual;
    asked->send(out);
    EXPECT_EQ(send(client, {}), end == "COMMIT" ? "CAZ" : "CZ");
  }
  world.end(client);
}

TEST_F(TransactionListen, NothingMoreIsSentBeforeTheChannelIsListenedTo) {
  ScriptedClient& client = world.ready_client();
  silent = true;
  EXPECT_EQ(say(client, {"BEGIN", "LISTEN x", "NOTIFY x", "COMMIT"}), "CZCZ");
  EXPECT_EQ(notifies, 0);
  grant();
  EXPECT_EQ(send(client, {}), "CZCAZ");
  world.end(client);
}

// Was: all of it was kept until the statement was answered, and ended the session.
TEST_F(TransactionListen, ALongStatementMayBeNotifiedOfAnyAmount) {
  ScriptedClient& client = world.ready_client();
  EXPECT_EQ(say(client, {"BEGIN", "LISTEN x"}), "CZCZ");
  for (const bool extended : {false, true}) {
    EXPECT_EQ(extended ? send(client, batch({"SLOW"})) : say(client, {"SLOW"}), extended ? "12" : "");
    for (int i = 0; i < 300; ++i) {
      message.clear();
      protocol::append_message(message, 'A',
                               as_bytes(std::string(4, '\0') + "x" + '\0' + std::string(7000, 'y') + '\0'));
      listener->send(message);
      world.settle();
    }
    message.clear();
    ASSERT_FALSE(client.ended());
    finish_slow();
    EXPECT_EQ(send(client, {}), "CZ");
  }
  EXPECT_EQ(say(client, {"COMMIT"}), "CZ");
  notify();
  EXPECT_EQ(send(client, {}), "A");
  world.end(client);
}

// Was: it counted for query_timeout, as the Execute had been sent and its Sync had not.
TEST_F(TransactionListen, TheWaitForAChannelIsNoTimeOfTheServers) {
  ScriptedClient& client = world.ready_client();
  silent = true;
  send(client, batch({"LISTEN x", "NOTIFY x"}));
  world.run_for(15s);
  ASSERT_FALSE(client.ended()) << client.sqlstate();
  grant();
  send(client, {});
  EXPECT_EQ(client.types().substr(client.types().size() - 8), "12C12CAZ");
  EXPECT_LT(std::chrono::nanoseconds(world.reading().total(metric::query_seconds_total)), 1s);
  world.end(client);
}

// Was: the session ended, as nobody could listen to what was not to be listened to.
TEST_F(TransactionListen, WhatHasFailedDoesNotWait) {
  ScriptedClient& client = world.ready_client();
  silent = true;
  EXPECT_EQ(say(client, {"BEGIN", "FAIL"}), "CZEZ");
  EXPECT_EQ(send(client, batch({"LISTEN x", "NOTIFY x"})), "12EZ");
  EXPECT_EQ(say(client, {"ROLLBACK"}), "CZ");
  EXPECT_EQ(listener, nullptr) << "nobody was asked";

  EXPECT_EQ(send(client, batch({"FAIL", "LISTEN x", "NOTIFY x"})), "12EZ");
  EXPECT_EQ(say(client, {"BEGIN"}), "CZ");
  EXPECT_EQ(send(client, batch({"FAIL", "LISTEN x", "NOTIFY x"})), "12EZ");
  for (int i = 0; i < 5; ++i) {
    world.run_for(9s);
    EXPECT_EQ(say(client, {"SELECT 1"}), "EZ");
  }
  EXPECT_EQ(say(client, {"ROLLBACK"}), "CZ");
  EXPECT_EQ(world.reading().total(metric::listening_sessions), 0);
  world.end(client);
}

TEST_F(TransactionListen, WhatIsRolledBackIsLetGoWhileMoreIsUnderWay) {
  ScriptedClient& client = world.ready_client();
  EXPECT_EQ(say(client, {"BEGIN", "LISTEN x"}), "CZCZ");
  EXPECT_EQ(say(client, {"ROLLBACK", "SLOW"}), "CZ");
  EXPECT_EQ(heard_by_listener().back(), "Q:UNLISTEN \"x\";");
  finish_slow();
  EXPECT_EQ(send(client, {}), "CZ");
  world.end(client);
}

TEST_F(TransactionListen, ATransactionWaitsForItsChannelNoLongerThanQueriesDo) {
  ScriptedClient& client = world.ready_client();
  silent = true;
  EXPECT_EQ(say(client, {"BEGIN", "LISTEN x", "COMMIT"}), "CZCZ");
  world.run_for(19s);
  EXPECT_FALSE(client.ended());
  world.run_for(2s);
  EXPECT_TRUE(client.ended());
  EXPECT_EQ(client.sqlstate(), "57P03");
  EXPECT_EQ(world.reading().total(metric::listening_sessions), 0);
}

// Was: a session's own notifications came behind such a ReadyForQuery.
TEST_F(TransactionListen, OwnNotificationsComeBeforeAReadyForQueryThatSomethingFollows) {
  ScriptedClient& client = world.ready_client();
  EXPECT_EQ(say(client, {"LISTEN x"}), "CZ");
  protocol::append_parameter_status(behind_ready, "TimeZone", "Europe/Zurich");
  EXPECT_EQ(say(client, {"NOTIFY x"}), "CAZS");
  behind_ready.clear();
  protocol::append_notice_response(behind_ready, {"NOTICE", "00000", "by the way", "", ""});
  EXPECT_EQ(say(client, {"BEGIN", "NOTIFY x", "COMMIT"}), "CZNCZNCAZN");
  world.end(client);
}

}  // namespace
}  // namespace sluice::router::test
