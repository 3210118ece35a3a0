#include "pooling/settings.h"

#include <gtest/gtest.h>

#include "pooling/settings_machine.h"
#include "protocol/backend_messages.h"

namespace sluice::pooling {
namespace {

Bytes answer() {
  Bytes out;
  protocol::append_row_description(out, std::vector<protocol::TextColumn>{{"set_config"}, {"set_config"}});
  protocol::append_data_row(out, std::vector<std::optional<std::string>>{"UTC", std::nullopt});
  protocol::append_command_complete(out, "SELECT 1");
  protocol::append_parameter_status(out, "TimeZone", "UTC");
  protocol::append_ready_for_query(out, 'I');
  return out;
}

SettingsMachine::Want run(SettingsMachine& machine, ByteView bytes) {
  const auto room = machine.prepare(bytes.size());
  std::copy(bytes.begin(), bytes.end(), room.begin());
  machine.commit(bytes.size());
  return machine.step();
}

TEST(SettingsMachine, KeepsRowAndReportsAtEverySplit) {
  const Bytes bytes = answer();
  for (std::size_t cut = 0; cut < bytes.size(); ++cut) {
    SettingsMachine machine("SELECT 1");
    EXPECT_EQ(run(machine, ByteView(bytes).first(cut)), SettingsMachine::Want::Read);
    EXPECT_EQ(run(machine, ByteView(bytes).subspan(cut)), SettingsMachine::Want::Done);
    EXPECT_EQ(machine.values(), (std::vector<std::optional<std::string>>{"UTC", std::nullopt}));
    EXPECT_EQ(machine.reports(), (std::vector<SettingsMachine::Report>{{"TimeZone", "UTC"}}));
  }
}

TEST(SettingsMachine, FailsWithTheServersWords) {
  SettingsMachine machine("SELECT 1");
  Bytes bytes;
  protocol::append_error_response(bytes, {"ERROR", "22023", "invalid value", "", ""});
  EXPECT_EQ(run(machine, bytes), SettingsMachine::Want::Read) << "it is not at rest yet";
  Bytes ready;
  protocol::append_ready_for_query(ready, 'I');
  EXPECT_EQ(run(machine, ready), SettingsMachine::Want::Failed);
  ASSERT_TRUE(machine.error().has_value());
  EXPECT_EQ(machine.error()->sqlstate, "22023");
}

TEST(SettingsMachine, AsksAgainWhenACancelCutItShort) {
  SettingsMachine machine("SELECT 1");
  Bytes cancelled;
  protocol::append_error_response(cancelled, {"ERROR", "57014", "canceling statement", "", ""});
  protocol::append_ready_for_query(cancelled, 'I');
  const Bytes question = machine.take_output();
  EXPECT_EQ(run(machine, cancelled), SettingsMachine::Want::Read);
  EXPECT_EQ(machine.take_output(), question);
  EXPECT_EQ(run(machine, answer()), SettingsMachine::Want::Done);
  EXPECT_EQ(machine.values().size(), 2u) << "of the last answer alone";
  EXPECT_FALSE(machine.error());

  SettingsMachine never("SELECT 1");
  for (int i = 1; i < SettingsMachine::kAttemptsMax; ++i)
    EXPECT_EQ(run(never, cancelled), SettingsMachine::Want::Read);
  EXPECT_EQ(run(never, cancelled), SettingsMachine::Want::Failed);
  EXPECT_TRUE(never.error());
}

TEST(SettingsMachine, FailsWhenSomethingFollowsOrNothingCame) {
  SettingsMachine trailing("SELECT 1");
  Bytes bytes = answer();
  bytes.push_back(std::byte{'N'});
  EXPECT_EQ(run(trailing, bytes), SettingsMachine::Want::Failed);
  SettingsMachine empty("SELECT 1");
  Bytes ready;
  protocol::append_ready_for_query(ready, 'I');
  EXPECT_EQ(run(empty, ready), SettingsMachine::Want::Failed);
}

using Values = std::vector<std::optional<std::string>>;
using Parameters = std::vector<std::pair<std::string, std::string>>;

std::string reads(const std::vector<std::string>& settings) {
  std::string sql;
  for (const std::string& name : settings)
    sql += (sql.empty() ? "SELECT " : ", ") + ("pg_catalog.left(pg_catalog.current_setting('" + name) +
           "', true), " + std::to_string(ClientSettings::kFollowedBytesMax + 1) + ")";
  return sql;
}

class Settings : public testing::Test {
 protected:
  Settings() {
    for (ServerSettings* server : {&one, &two}) {
      server->on_report("server_version", "15.1");
      server->on_report("in_hot_standby", server == &one ? "off" : "on");
      server->on_report("TimeZone", "UTC");
      server->on_report("application_name", "");
      server->on_report("standard_conforming_strings", "on");
    }
  }
  // What the router does each time the client gets a server; `values`: the row of its SELECT.
  std::string give(ClientSettings& client, ServerSettings& server, const Values& values = {}) {
    if (client.in_step(server)) return "in step";
    std::string sql = client.sync_sql(server);
    if (!sql.empty()) client.on_synced(server, values);
    told.clear();
    client.append_told(told, server);
    EXPECT_TRUE(client.in_step(server));
    return sql;
  }
  ClientSettings greeted(const Parameters& startup, const Values& values = {}) {
    ClientSettings client(store, tracked, startup);
    if (!client.sync_sql(one).empty()) client.on_synced(one, values);
    client.greet(one);
    return client;
  }

  SettingsStore store;
  TrackedSettings tracked{std::vector<std::string>{"Search_Path", "statement_timeout"}};
  ServerSettings one{store};
  ServerSettings two{store};
  Bytes told;
};

TEST_F(Settings, NothingIsRunForClientsThatAgree) {
  ClientSettings a = greeted({});
  ClientSettings b = greeted({});
  EXPECT_EQ(give(a, one), "in step");
  EXPECT_EQ(give(b, one), "in step");
  EXPECT_EQ(give(a, two), "");
  // Only what describes the server is told anew.
  Bytes expected;
  protocol::append_parameter_status(expected, "in_hot_standby", "on");
  EXPECT_EQ(told, expected);
  EXPECT_EQ(a.wanted(), b.wanted());
}

TEST_F(Settings, ReportedOnesFollowTheClient) {
  ClientSettings a = greeted({});
  a.on_report(one, "TimeZone", "Europe/Rome");
  a.on_report(one, "application_name", "it's a\\b");
  EXPECT_TRUE(a.on_set("timezone"));
  EXPECT_EQ(a.read_sql(), "");
  a.on_hand_back(one);
  EXPECT_EQ(give(a, one), "in step");
  EXPECT_EQ(give(a, two, {"it's a\\b", "Europe/Rome"}),
            "SELECT pg_catalog.set_config('application_name', E'it''s a\\\\b', false), "
            "pg_catalog.set_config('TimeZone', 'Europe/Rome', false)");
  ClientSettings b(store, tracked, {});
  ServerSettings fresh(store);
  for (const Setting& setting : *two.current())
    if (setting.reported)
      fresh.on_report(setting.name, setting.key == "timezone"           ? "UTC"
                                    : setting.key == "application_name" ? ""
                                                                        : setting.value);
  b.greet(fresh);
  EXPECT_EQ(
      give(b, two, {"", "UTC"}),
      "SELECT pg_catalog.set_config('application_name', '', false), pg_catalog.set_config('TimeZone', 'UTC', "
      "false)");
  EXPECT_EQ(give(b, two), "in step");
}

TEST_F(Settings, StartupValuesAreAskedForInTheServersSpelling) {
  ClientSettings a(store, tracked, Parameters{{"timezone", "utc"}, {"search_path", "s, public"}});
  EXPECT_EQ(
      a.sync_sql(one),
      "SELECT pg_catalog.set_config('search_path', 's, public', false), pg_catalog.set_config('timezone', "
      "'utc', false)");
  a.on_synced(one, Values{"s, public", "UTC"});
  a.greet(one);
  EXPECT_EQ(give(a, one), "in step");
  EXPECT_EQ(give(a, two, {"s, public"}), "SELECT pg_catalog.set_config('search_path', 's, public', false)");
  EXPECT_TRUE(a.follows("search_path"));
}

TEST_F(Settings, UnreportedOnesAreReadBackAndLeaveWithTheClient) {
  ClientSettings a = greeted({});
  ClientSettings b = greeted({});
  EXPECT_TRUE(a.on_set("search_path"));
  EXPECT_TRUE(a.on_set("search_path"));
  EXPECT_TRUE(a.on_set("role"));
  EXPECT_FALSE(a.on_set("work_mem"));
  EXPECT_EQ(a.read_sql(), reads({"search_path", "role"}));
  a.on_read(one, Values{"\"$user\", x", "boss"});
  a.on_hand_back(one);
  EXPECT_EQ(a.read_sql(), "");
  EXPECT_EQ(give(a, one), "in step");
  // The role goes first, so that the rest may be set.
  EXPECT_EQ(give(b, one, {"none", "default path", "none"}),
            "SELECT pg_catalog.set_config('role', 'none', false), pg_catalog.set_config('search_path', NULL, "
            "false), "
            "pg_catalog.set_config('role', NULL, false)");
  EXPECT_EQ(
      give(a, one, {"\"$user\", x", "boss"}),
      "SELECT pg_catalog.set_config('search_path', '\"$user\", x', false), pg_catalog.set_config('role', "
      "'boss', false)");
}

TEST_F(Settings, ResetReturnsToTheStartupValue) {
  ClientSettings a = greeted({{"TimeZone", "Asia/Tokyo"}, {"search_path", "s"}}, {"s", "Asia/Tokyo"});
  one.on_report("TimeZone", "Asia/Tokyo");
  a.greet(one);
  a.on_report(one, "TimeZone", "Europe/Rome");
  a.on_hand_back(one);
  EXPECT_TRUE(a.on_reset("timezone"));
  a.on_report(one, "TimeZone", "UTC");
  a.on_hand_back(one);
  EXPECT_FALSE(a.in_step(one));
  EXPECT_EQ(a.sync_sql(one), "SELECT pg_catalog.set_config('TimeZone', 'Asia/Tokyo', false)");
  a.on_synced(one, Values{"Asia/Tokyo"});
  // One that was rolled back has changed nothing.
  a.on_report(one, "TimeZone", "Europe/Rome");
  a.on_hand_back(one);
  EXPECT_TRUE(a.on_reset("timezone"));
  a.on_report(one, "TimeZone", "UTC");
  a.on_report(one, "TimeZone", "Europe/Rome");
  a.on_hand_back(one);
  EXPECT_EQ(give(a, one), "in step");
}

// B61. Was: values were sent in the encoding that another client had left, and became others.
TEST_F(Settings, AreSetInTheEncodingOfTheirClient) {
  const Values in_utf8{"\xc3\xa9"}, in_latin1{"\xe9"};
  one.on_report("client_encoding", "UTF8");
  ClientSettings a = greeted({});
  ClientSettings b = greeted({});
  EXPECT_TRUE(a.on_set("search_path"));
  a.on_read(one, in_utf8);
  a.on_hand_back(one);
  EXPECT_EQ(give(b, one, {"default"}), "SELECT pg_catalog.set_config('search_path', NULL, false)");
  b.on_report(one, "client_encoding", "LATIN1");
  EXPECT_TRUE(b.on_set("search_path"));
  b.on_read(one, in_utf8);  // the same bytes, of another text
  b.on_hand_back(one);

  const std::string encoding = "SELECT pg_catalog.set_config('client_encoding', 'UTF8', false)";
  EXPECT_EQ(a.sync_sql(one), encoding);
  EXPECT_TRUE(a.on_synced(one, Values{"UTF8"}));
  EXPECT_EQ(a.sync_sql(one), "SELECT pg_catalog.set_config('search_path', '\xc3\xa9', false)");
  EXPECT_FALSE(a.on_synced(one, in_utf8));
  EXPECT_EQ(a.sync_sql(one), "");
  a.append_told(told, one);

  // Its own change of the encoding is one of its values, too.
  a.on_report(one, "client_encoding", "LATIN1");
  EXPECT_EQ(a.read_sql(), reads({"search_path"}));
  a.on_read(one, in_latin1);
  a.on_hand_back(one);
  EXPECT_EQ(*value_of(*a.wanted(), "search_path"), "\xe9");
  EXPECT_EQ(give(a, one), "in step");
}

TEST_F(Settings, AreSetAtOnceWhereTheEncodingDoesNotMatter) {
  one.on_report("client_encoding", "UTF8");
  ClientSettings a = greeted({});
  EXPECT_TRUE(a.on_set("search_path"));
  a.on_read(one, Values{"x"});
  a.on_hand_back(one);
  two.on_report("client_encoding", "LATIN1");
  EXPECT_EQ(a.sync_sql(two),
            "SELECT pg_catalog.set_config('client_encoding', 'UTF8', false), "
            "pg_catalog.set_config('search_path', 'x', false)");
  EXPECT_FALSE(a.on_synced(two, Values{"UTF8", "x"}));
  EXPECT_EQ(a.sync_sql(two), "");
}

// SET of a setting that this server does not know fails. On the next server nothing must be tried again.
TEST_F(Settings, WhatNoServerKnowsIsNotFollowed) {
  const TrackedSettings all(std::vector<std::string>{"*"});
  ClientSettings a(store, all, {});
  a.greet(one);
  EXPECT_TRUE(a.on_set("nosuch"));
  EXPECT_TRUE(a.on_set("work_mem"));
  a.on_read(one, Values{std::nullopt, "1MB"});
  a.on_hand_back(one);
  EXPECT_EQ(a.sync_sql(two), "SELECT pg_catalog.set_config('work_mem', '1MB', false)");
}

TEST_F(Settings, ResetAllReadsWhatIsNotReported) {
  ClientSettings a = greeted({{"search_path", "s"}}, {"s"});
  EXPECT_TRUE(a.on_set("statement_timeout"));
  a.on_read(one, Values{"5s"});
  a.on_hand_back(one);
  a.on_reset_all(one);
  EXPECT_EQ(a.read_sql(), reads({"search_path", "statement_timeout"}));
  a.on_read(one, Values{"public", "0"});
  a.on_hand_back(one);
  EXPECT_EQ(a.sync_sql(one), "SELECT pg_catalog.set_config('search_path', 's', false)");
}

// Was: what was read back broke the connection, and with it the session.
TEST_F(Settings, ThatAreTooMuchDoNotFollow) {
  const TrackedSettings all(std::vector<std::string>{"*"});
  constexpr std::size_t kMost = ClientSettings::kFollowedBytesMax;
  const auto follows = [&](const Values& values) {
    ClientSettings client(store, all, {});
    client.greet(one);
    bool all_follow = true;
    for (std::size_t i = 0; i < values.size(); ++i) {
      EXPECT_TRUE(client.on_set("x." + std::to_string(i)));
      all_follow = client.on_read(one, Values{values[i]});
    }
    return all_follow;
  };
  EXPECT_TRUE(follows({std::string(kMost - 3, 'v')}));
  EXPECT_FALSE(follows({std::string(kMost + 1, 'v')}));
  EXPECT_TRUE(follows({std::string(kMost / 2, 'v'), std::string(kMost / 4, 'v')}));
  EXPECT_FALSE(follows({std::string(kMost / 2, 'v'), std::string(kMost / 2, 'v')}));
  EXPECT_TRUE(follows({std::string(kMost / 2, 'v'), std::nullopt}));
  ClientSettings client(store, all, {});
  client.greet(one);
  EXPECT_FALSE(client.on_set(std::string(1000, 'n')));
  EXPECT_TRUE(client.on_set("search_path"));
  EXPECT_FALSE(client.on_read(one, Values{"pg_temp, public"})) << "what is created may be temporary";
}

TEST_F(Settings, AreBoundedAndTellScopesApart) {
  const TrackedSettings all(std::vector<std::string>{"*"});
  ClientSettings a(store, all, {});
  a.greet(one);
  std::size_t followed = 0;
  for (int i = 0; i < 1000; ++i)
    followed += a.on_set("x.s" + std::to_string(i)) ? 1 : 0;
  EXPECT_EQ(followed, ClientSettings::kFollowedMax);
  ClientSettings b = greeted({});
  const std::string scope = b.parse_scope();
  b.on_report(one, "application_name", "z");
  EXPECT_EQ(b.parse_scope(), scope);
  b.on_report(one, "TimeZone", "Asia/Tokyo");
  EXPECT_NE(b.parse_scope(), scope);
  EXPECT_EQ(b.backslash(), Backslash::Literal);
  b.on_report(one, "standard_conforming_strings", "off");
  EXPECT_EQ(b.backslash(), Backslash::Escape);
}

}  // namespace
}  // namespace sluice::pooling
