#include <gtest/gtest.h>

#include "tests/admin/console_client.h"

namespace sluice::admin::testing {
namespace {

TEST(Console, GreetsWithTheSettingsDriversReadAndReadyForQuery) {
  ConsoleClient client;
  ASSERT_GT(client.greeting.size(), 5U);
  EXPECT_EQ(client.greeting.back().type, 'Z');
  EXPECT_EQ(client.greeting.back().body, "I");
  EXPECT_EQ(client.greeting[0].body, zero("server_version") + zero("15.0 (Sluice 0.1.0)"));
}

TEST(Console, AnswersShowWithDescriptionRowsTagAndReadyForQuery) {
  ConsoleClient client;
  const auto answers = client.ask("show pools;");
  ASSERT_EQ(types(answers), "TDCZ");
  EXPECT_EQ(answers[0].columns()[0], "database:25");
  EXPECT_EQ(answers[0].columns()[2], "cl_active:20");
  const auto row = answers[1].values();
  ASSERT_EQ(row.size(), answers[0].columns().size());
  EXPECT_EQ(row[0], "shop");
  EXPECT_EQ(row[2], "4");
  EXPECT_EQ(answers[2].body, zero("SHOW"));
  EXPECT_EQ(client.router.gathered, std::vector<Part>{Part::Pools});
}

TEST(Console, AnswersEveryStatementOfAQueryWithOneReadyForQuery) {
  ConsoleClient client;
  EXPECT_EQ(types(client.ask("SHOW VERSION; ; SELECT 1;RELOAD")), "TDCTDCCZ");
  EXPECT_EQ(client.router.commands, std::vector<std::string>{"reload"});
}

TEST(Console, DoesNothingOfAQueryWithAnErrorInIt) {
  ConsoleClient client;
  const auto answers = client.ask("DRAIN r0; SHOW nosuch");
  EXPECT_EQ(types(answers), "EZ");
  EXPECT_TRUE(client.router.commands.empty());
}

TEST(Console, StopsAQueryAtTheFirstFailedCommand) {
  ConsoleClient client;
  client.router.result = {"42704", "there is no replica \"r9\"", {}, "SHOW REPLICAS lists them.", {}};
  const auto answers = client.ask("DRAIN r9; DRAIN r0");
  ASSERT_EQ(types(answers), "EZ");
  EXPECT_EQ(answers[0].field('C'), "42704");
  EXPECT_EQ(answers[0].field('S'), "ERROR");
  EXPECT_EQ(answers[0].field('H'), "SHOW REPLICAS lists them.");
  EXPECT_EQ(client.router.commands, std::vector<std::string>{"drain r9"});
}

TEST(Console, GivesEmptyQueryResponseForNothing) {
  ConsoleClient client;
  for (const auto* text : {"", ";", ";;;;", "  -- ping", "/* a /* b */ c */ ;"})
    EXPECT_EQ(types(client.ask(text)), "IZ") << text;
}

TEST(Console, SurvivesHostileText) {
  ConsoleClient client;
  const std::pair<std::string, std::string> cases[] = {{"show", "42601"},
                                                       {"show ;", "42601"},
                                                       {"SHOW \"", "42601"},
                                                       {"/* open", "42601"},
                                                       {"\xff\xfe", "22021"},
                                                       {"SHOW a b", "42601"},
                                                       {"KILL_CLIENT x", "42601"},
                                                       {"KILL_CLIENT -1", "42601"},
                                                       {"KILL_CLIENT 99999999999999999999999", "42601"},
                                                       {"DRAIN", "42601"},
                                                       {"DRAIN \"\"", "42601"},
                                                       {"SELECT", "0A000"},
                                                       {"SELECT * FROM t", "0A000"},
                                                       {"SUSPEND", "0A000"},
                                                       {"PAUSE a b", "42601"},
                                                       {"DISABLE", "42601"},
                                                       {"SET query_timeout", "42601"},
                                                       {"SET query_timeout = ", "42601"},
                                                       {"SET query_timeout 5", "42601"},
                                                       {"SET = 5", "42601"},
                                                       {"SET a = b c", "42601"},
                                                       {"SET", "42601"},
                                                       {"RELOAD now", "42601"},
                                                       {std::string(1'000'000, 'x'), "42601"},
                                                       {"(((((((", "42601"},
                                                       {"SELECT 99999999999999999999999", "0A000"},
                                                       {"SELECT current_setting('", "42601"}};
  for (const auto& [text, sqlstate] : cases) {
    const auto answers = client.ask(text);
    ASSERT_EQ(types(answers), "EZ") << text.substr(0, 40);
    EXPECT_EQ(answers[0].field('C'), sqlstate) << text.substr(0, 40);
    EXPECT_LT(answers[0].body.size(), 400U);
  }
  std::string many;
  for (int i = 0; i < 101; ++i)
    many += "SHOW VERSION;";
  EXPECT_EQ(client.ask(many)[0].field('C'), "54000");
  std::string wide = "SHOW";
  for (int i = 0; i < 1000; ++i)
    wide += " a";
  EXPECT_EQ(client.ask(wide)[0].field('C'), "54001");
  EXPECT_TRUE(client.router.commands.empty());
  EXPECT_FALSE(client.session.closed());
}

TEST(Console, NamesTheNearestViewAndCommand) {
  ConsoleClient client;
  EXPECT_EQ(client.ask("SHOW POLS")[0].field('H'), "Did you mean SHOW POOLS?");
  EXPECT_EQ(client.ask("SHWO POOLS")[0].field('H'), "Did you mean SHOW?");
  EXPECT_EQ(client.ask("SHOW zzzzzzzz")[0].field('H'), "SHOW HELP lists what there is.");
}

TEST(Console, PassesCommandsToTheRouter) {
  ConsoleClient client;
  const std::pair<std::string_view, std::string> cases[] = {
      {"drain replica-1", "drain replica-1"},
      {"UNDRAIN \"We ird\"", "undrain We ird"},
      {"KILL", "kill (all)"},
      {"KILL shop;", "kill shop"},
      {"PAUSE", "pause (all)"},
      {"pause shop", "pause shop"},
      {"RESUME", "resume (all)"},
      {"RESUME \"my shop\"", "resume my shop"},
      {"DISABLE shop", "disable shop"},
      {"ENABLE shop", "enable shop"},
      {"RECONNECT", "reconnect (all)"},
      {"RECONNECT shop", "reconnect shop"},
      {"WAIT_CLOSE", "wait_close (all)"},
      {"WAIT_CLOSE shop", "wait_close shop"},
      {"SET query_timeout = 5", "set query_timeout 5"},
      {"SET query_timeout TO '5min'", "set query_timeout 5min"},
      {"SET admin_users = 'a, b'", "set admin_users a, b"},
      {"set auth_user = ''", "set auth_user "},
      {"KILL_CLIENT 18446744073709551615", "kill_client 18446744073709551615"},
      {"RELOAD", "reload"},
      {"SHUTDOWN", "shutdown 0"},
      {"shutdown wait_for_servers", "shutdown 1"},
      {"SHUTDOWN WAIT_FOR_CLIENTS", "shutdown 2"}};
  for (const auto& [sql, command] : cases) {
    const auto answers = client.ask(sql);
    ASSERT_EQ(types(answers), "CZ") << sql;
    EXPECT_EQ(client.router.commands.back(), command);
  }
}

TEST(Console, TellsNotesOfACommandAsNotices) {
  ConsoleClient client;
  client.router.result.notes = {"listen_port waits for a restart"};
  const auto answers = client.ask("RELOAD");
  ASSERT_EQ(types(answers), "NCZ");
  EXPECT_EQ(answers[0].field('M'), "listen_port waits for a restart");
  EXPECT_EQ(answers[1].body, zero("RELOAD"));
}

TEST(Console, LetsStatsUsersLookAndDoNothingElse) {
  ConsoleClient client(Privilege::Stats);
  for (const auto* sql :
       {"KILL", "KILL shop", "KILL_CLIENT 1", "RELOAD", "SHUTDOWN", "SHUTDOWN WAIT_FOR_CLIENTS", "DRAIN r0",
        "UNDRAIN r0", "PAUSE", "PAUSE shop", "RESUME", "DISABLE shop", "ENABLE shop", "RECONNECT",
        "WAIT_CLOSE", "SET query_timeout = 5"}) {
    const auto answers = client.ask(sql);
    ASSERT_EQ(types(answers), "EZ") << sql;
    EXPECT_EQ(answers[0].field('C'), "42501") << sql;
  }
  EXPECT_EQ(types(client.ask("SHOW POOLS; SHOW CONFIG")), "TDCTDCZ");
  EXPECT_EQ(types(client.say(parse("", "KILL") + bind_portal("", "") + execute("") + sync())), "12EZ");
  EXPECT_TRUE(client.router.commands.empty());
}

TEST(Console, AnswersWhatDriversSayOnTheirOwn) {
  ConsoleClient client;
  for (const auto* sql :
       {"SET extra_float_digits = 3", "set application_name to 'x'",
        "SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY", "SET datestyle TO 'ISO'", "RESET ALL",
        "DISCARD ALL", "UNLISTEN *", "CLOSE ALL", "DEALLOCATE ALL", "SET TIME ZONE 'UTC'"})
    EXPECT_EQ(types(client.ask(sql)), "CZ") << sql;
  for (const auto* sql :
       {"SELECT 1", "select version()", "SELECT pg_catalog.version()", "SHOW server_version",
        "show transaction isolation level", "SELECT current_user, current_database() AS db",
        "SELECT pg_advisory_unlock_all()", "SHOW transaction_read_only", "SELECT NULL, true, 'x'",
        "SELECT current_setting('server_version_num')"})
    EXPECT_EQ(types(client.ask(sql)), "TDCZ") << sql;
  EXPECT_EQ(client.ask("SELECT 42 AS answer")[0].columns()[0], "answer:20");
}

TEST(Console, TellsWhyAnOptionWasNotSet) {
  ConsoleClient client;
  client.router.result = {"55P02", "listen_port cannot be changed while the router runs", {}, "Restart.", {}};
  const auto answers = client.ask("SET listen_port = 5");
  ASSERT_EQ(types(answers), "EZ");
  EXPECT_EQ(answers[0].field('C'), "55P02");
  EXPECT_EQ(client.router.commands, std::vector<std::string>{"set listen_port 5"});
}

TEST(Console, KeepsTransactionStatusAsPostgreSqlDoes) {
  ConsoleClient client;
  EXPECT_EQ(client.ask("BEGIN").back().body, "T");
  EXPECT_EQ(client.ask("SHOW nosuch").back().body, "E");
  EXPECT_EQ(client.ask("SHOW VERSION")[0].field('C'), "25P02");
  const auto end = client.ask("COMMIT");
  EXPECT_EQ(end[0].body, zero("ROLLBACK"));
  EXPECT_EQ(end.back().body, "I");
  EXPECT_EQ(types(client.ask("COMMIT")), "NCZ");
}

TEST(Console, SendsTextThatEveryClientCanDecode) {
  ConsoleClient client;
  const auto answers = client.ask("SHOW CLIENTS");
  const auto columns = answers[0].columns();
  const auto values = answers[1].values();
  EXPECT_EQ(columns[18], "application_name:25");
  EXPECT_EQ(values[18], "caf?");
}

TEST(Console, ClosesOnTerminate) {
  ConsoleClient client;
  EXPECT_TRUE(client.say(message('X', "")).empty());
  EXPECT_TRUE(client.session.closed());
  EXPECT_TRUE(client.ask("SHOW POOLS").empty());
}

TEST(Console, EndsWithFatalOnBrokenFraming) {
  for (const Bytes& bytes :
       {message('z', ""), message('p', zero("secret")), Bytes{std::byte{'Q'}, {}, {}, {}, std::byte{3}},
        Bytes{std::byte{'Q'}, std::byte{0x7F}, std::byte{0xFF}, std::byte{0xFF}, std::byte{0xFF}},
        Bytes{std::byte{'Q'}, std::byte{0xFF}, std::byte{0xFF}, std::byte{0xFF}, std::byte{0xFF}}}) {
    ConsoleClient client;
    const auto answers = client.say(bytes);
    ASSERT_EQ(types(answers), "E");
    EXPECT_EQ(answers[0].field('S'), "FATAL");
    EXPECT_TRUE(client.session.closed());
  }
}

TEST(Console, AnswersMalformedMessagesAndGoesOn) {
  ConsoleClient client;
  EXPECT_EQ(client.say(message('Q', "no terminator"))[0].field('C'), "08P01");
  EXPECT_EQ(types(client.say(message('B', "x") + sync())), "EZ");
  EXPECT_EQ(
      types(client.say(message('B', zero("") + zero("") + int16(0) + int16(65535) + int32(4)) + sync())),
      "EZ");
  EXPECT_EQ(types(client.say(message('F', "x"))), "EZ");
  EXPECT_EQ(types(client.say(message('d', "x") + message('c', "") + sync())), "Z");
  EXPECT_EQ(types(client.ask("SHOW VERSION")), "TDCZ");
}

}  // namespace
}  // namespace sluice::admin::testing
