#include <gtest/gtest.h>

#include "config/match.h"
#include "tests/config/loading.h"

namespace sluice::config {
namespace {

TEST(Load, TakesAFiveMinuteConfiguration) {
  const LoadOutcome outcome =
      Loading().load("listen_port: 6432\nprimary: p\nreplicas: [a, b, c, d, e]\nauth_file: verifiers\n");
  ASSERT_TRUE(outcome.config) << text_of(outcome.problems);
  EXPECT_TRUE(outcome.problems.empty()) << text_of(outcome.problems);
  const Config& config = *outcome.config;
  ASSERT_EQ(config.listeners.size(), 1U);
  EXPECT_EQ(config.listeners[0].address, "127.0.0.1");
  EXPECT_EQ(config.listeners[0].port, 6432U);
  EXPECT_EQ(config.listeners[0].name, "127.0.0.1:6432");
  EXPECT_EQ(config.replicas[0].name, "a:5432");
  ASSERT_EQ(config.classes.size(), 2U);
  EXPECT_EQ(config.classes[0].name, "premium");
  EXPECT_EQ(config.classes[0].saturation, 10U);
  EXPECT_EQ(config.classes[0].return_ratio.to_string(), "0.60");
  EXPECT_EQ(config.classes[0].floor, 0U);
  EXPECT_EQ(config.classes[0].target, 2U);
  EXPECT_EQ(config.classes[1].return_ratio.to_string(), "0.80");
  EXPECT_EQ(config.classes[1].floor, 1U);
  EXPECT_EQ(config.classes[1].target, 2U);
  EXPECT_EQ(config.options.default_class, "freemium");
  ASSERT_EQ(config.hba.size(), 1U);
  EXPECT_EQ(config.hba[0].method, AuthMethod::ScramSha256);
  ASSERT_EQ(config.databases.size(), 1U);
  EXPECT_EQ(config.databases[0].name, "*");
  EXPECT_NE(find_user(config, "scram"), nullptr);
  EXPECT_EQ(find_user(config, "other"), nullptr);
  EXPECT_EQ(policy::problem_of(pool_config(config)), std::nullopt);
}

TEST(Load, GivesTheUsualClassesTargetsThatSuitTheNumberOfReplicas) {
  const Loading loading;
  const std::uint32_t expected[] = {0, 1, 1, 1, 2, 2};
  std::string replicas;
  for (std::size_t count = 1; count <= 6; ++count) {
    replicas += "  - r" + std::to_string(count) + "\n";
    const LoadOutcome outcome = loading.load("auth_file: verifiers\nreplicas:\n" + replicas);
    ASSERT_TRUE(outcome.config) << text_of(outcome.problems);
    EXPECT_EQ(outcome.config->classes[0].target, expected[count - 1]) << count;
    EXPECT_EQ(outcome.config->classes[1].target, expected[count - 1]) << count;
    EXPECT_LE(outcome.config->classes[1].floor, outcome.config->classes[1].target);
  }
}

TEST(Load, ReadsServersInShortAndLongForm) {
  const LoadOutcome outcome = Loading().load(
      "auth_file: verifiers\n"
      "primary: {name: main, host: 10.0.0.1, port: 5433}\n"
      "replicas: [host, host:5434, \"[::1]:5435\", \"fd00::1\", /run/postgresql, {name: r, host: h, pool: "
      "mixed}]\n");
  ASSERT_TRUE(outcome.config) << text_of(outcome.problems);
  const auto& replicas = outcome.config->replicas;
  EXPECT_EQ(replicas[1].host, "host");
  EXPECT_EQ(replicas[1].port, 5434U);
  EXPECT_EQ(replicas[2].host, "::1");
  EXPECT_EQ(replicas[2].port, 5435U);
  EXPECT_EQ(replicas[2].name, "[::1]:5435");
  EXPECT_EQ(replicas[3].host, "fd00::1");
  EXPECT_EQ(replicas[4].host, "/run/postgresql");
  EXPECT_EQ(replicas[5].pool, "mixed");
  EXPECT_EQ(outcome.config->primary->name, "main");
  EXPECT_EQ(pool_config(*outcome.config).replicas[5].pool, "mixed");
}

TEST(Load, ReadsJson) {
  const LoadOutcome outcome = Loading().load(
      R"({"listen_addr": "127.0.0.1", "replicas": [{"name": "r0", "host": "h", "port": 5433}],
          "auth_file": "verifiers", "health_check_interval": "500ms", "cancel_rate_limit": 0,
          "classes": [{"name": "premium", "return_ratio": "0.60", "target": 1}]})");
  ASSERT_TRUE(outcome.config) << text_of(outcome.problems);
  EXPECT_EQ(outcome.config->options.health_check_interval, std::chrono::milliseconds(500));
}

TEST(Load, AddsListenersToAGivenShortForm) {
  const Loading loading;
  const LoadOutcome only = loading.load_with("listeners:\n- {name: x, address: 127.0.0.1, port: 1}\n");
  ASSERT_TRUE(only.config) << text_of(only.problems);
  EXPECT_EQ(only.config->listeners.size(), 1U);
  const LoadOutcome both =
      loading.load_with("listen_port: 2\nlisteners:\n- {name: x, address: 127.0.0.1, port: 1}\n");
  ASSERT_TRUE(both.config) << text_of(both.problems);
  EXPECT_EQ(both.config->listeners.size(), 2U);
}

TEST(Load, ReadsPasswordFilesWithoutTheLineEnd) {
  const LoadOutcome outcome = Loading().load_with("server_user: s\nserver_password_file: password\n");
  ASSERT_TRUE(outcome.config) << text_of(outcome.problems);
  EXPECT_EQ(outcome.config->passwords.server_user, "sesame");
}

TEST(Load, ReadsAnAdminTokenThatIsLongEnough) {
  const Loading loading;
  loading.folder().write("token", "0123456789abcdef\n");
  const LoadOutcome outcome = loading.load_with("admin_token_file: token\n");
  ASSERT_TRUE(outcome.config) << text_of(outcome.problems);
  EXPECT_EQ(outcome.config->passwords.admin_token, "0123456789abcdef");
  loading.folder().write("token", "0123456789abcde\n");
  EXPECT_TRUE(has_error(loading.load_with("admin_token_file: token\n"), "admin_token_file", "16 characters"));
  loading.folder().write("token", "0123456789 abcdef\n");
  EXPECT_TRUE(has_error(loading.load_with("admin_token_file: token\n"), "admin_token_file", "visible ASCII"));
}

TEST(Load, KeepsItsWarningsForThoseWhoLookLater) {
  const Loading loading;
  loading.folder().write("password", "sesame\n", 0644);
  const LoadOutcome outcome = loading.load_with("server_user: s\nserver_password_file: password\n");
  ASSERT_TRUE(outcome.config) << text_of(outcome.problems);
  ASSERT_FALSE(outcome.problems.empty());
  EXPECT_EQ(outcome.config->warnings, outcome.problems);
}

TEST(Load, NamesFileLineColumnKeyValueAndRange) {
  const LoadOutcome outcome = Loading().load_with("server_connect_timeout: 700\n");
  ASSERT_EQ(outcome.problems.size(), 1U) << text_of(outcome.problems);
  EXPECT_EQ(outcome.problems[0].line, Loading::kBaseLines + 1);
  EXPECT_EQ(outcome.problems[0].column, 1U);
  EXPECT_EQ(outcome.problems[0].key, "server_connect_timeout");
  EXPECT_EQ(outcome.problems[0].message, "\"700\" is not a time in seconds from 1 to 600");
  EXPECT_NE(to_string(outcome.problems[0]).find("sluice.yaml:4:1: error: server_connect_timeout: "),
            std::string::npos);
}

TEST(Load, FindsEveryProblemAtOnce) {
  const LoadOutcome outcome = Loading().load(
      "server_conect_timeout: 5\n"
      "listen_port: 99999\n"
      "policy: plp\n"
      "replicas:\n"
      "  - {host: a, prot: 1}\n"
      "  - [a]\n"
      "  - {name: b}\n"
      "classes:\n"
      "  - {name: premium, saturation: 0, return_ratio: 1.5, floor: 1}\n"
      "rules:\n"
      "  - {user: x, class: premuim}\n"
      "threads:\n"
      "log_format: {a: b}\n"
      "hosts: x\n"
      "auth_file: verifiers\n"
      "auth_file: verifiers\n");
  EXPECT_TRUE(has_error(outcome, "server_conect_timeout", "did you mean server_connect_timeout?"));
  EXPECT_TRUE(has_error(outcome, "listen_port", "from 0 to 65535"));
  EXPECT_TRUE(has_error(outcome, "policy", "did you mean plb?"));
  EXPECT_TRUE(has_error(outcome, "replicas[0].prot", "did you mean port?"));
  EXPECT_TRUE(has_error(outcome, "replicas[1]", "a list where a set of keys is expected"));
  EXPECT_TRUE(has_error(outcome, "replicas[2]", "lacks host"));
  EXPECT_TRUE(has_error(outcome, "classes[0].saturation", "from 1 to"));
  EXPECT_TRUE(has_error(outcome, "classes[0].return_ratio", "\"1.5\""));
  EXPECT_TRUE(has_error(outcome, "classes[0].floor", "is not 0"));
  EXPECT_TRUE(has_error(outcome, "rules[0].class", "did you mean premium?"));
  EXPECT_TRUE(has_error(outcome, "threads", "has no value"));
  EXPECT_TRUE(has_error(outcome, "log_format", "a set of keys"));
  EXPECT_TRUE(has_error(outcome, "hosts", "where a list is expected"));
  EXPECT_TRUE(has_error(outcome, "auth_file", "given twice; the first time in line 15"));
  EXPECT_TRUE(std::is_sorted(outcome.problems.begin(), outcome.problems.end(),
                             [](const Problem& a, const Problem& b) { return a.line < b.line; }));
}

TEST(Load, SaysWhyAFileCannotBeRead) {
  const Loading loading;
  const LoadOutcome missing = load(loading.folder().path("none.yaml"));
  ASSERT_EQ(missing.problems.size(), 1U);
  EXPECT_EQ(missing.problems[0].message, "cannot be opened: No such file or directory");
  EXPECT_EQ(load("/").problems.at(0).message, "is not a regular file");
  EXPECT_EQ(load("/dev/zero").problems.at(0).message, "is not a regular file");
  const std::string huge = loading.folder().write("huge", std::string((4 << 20) + 1, ' '));
  EXPECT_NE(load(huge).problems.at(0).message.find("is larger than"), std::string::npos);
}

TEST(Load, SaysWhatAnEmptyFileLacks) {
  const LoadOutcome outcome = Loading().load("# nothing\n");
  EXPECT_TRUE(has_error(outcome, "replicas", "no replica is listed"));
  EXPECT_TRUE(has_error(outcome, "auth_type", "nobody can log in"));
}

TEST(Load, KeepsControlCharactersOfTheFileOutOfItsMessages) {
  const LoadOutcome outcome = Loading().load_with("\"a\\x1b[2Jb\": 1\ndefault_class: \"x\\ny\"\n");
  EXPECT_EQ(outcome.problems.size(), 2U);
  for (const Problem& problem : outcome.problems)
    EXPECT_EQ(to_string(problem).find_first_of("\x1b\n"), std::string::npos);
}

TEST(Load, GivesUpCountingProblemsButNotOnTheFile) {
  std::string text;
  for (int i = 0; i < 20'000; ++i)
    text += "x" + std::to_string(i) + ": 1\n";
  const LoadOutcome outcome = Loading().load(text);
  EXPECT_EQ(outcome.config, nullptr);
  EXPECT_EQ(outcome.problems.size(), kProblemCountMax);
}

TEST(Load, NeverPrintsWhatPasswordFilesHold) {
  const Loading loading;
  loading.folder().write("two", "first-secret\nsecond-secret\n", 0644);
  const LoadOutcome outcome = loading.load_with("server_user: s\nserver_password_file: two\n");
  EXPECT_TRUE(has_error(outcome, "server_password_file", "more than one line"));
  EXPECT_TRUE(has_warning(outcome, "server_password_file", "can be read by every user"));
  EXPECT_EQ(text_of(outcome.problems).find("-secret"), std::string::npos);
}

}  // namespace
}  // namespace sluice::config
