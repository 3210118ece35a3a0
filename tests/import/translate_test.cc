#include "import/translate.h"

#include <gtest/gtest.h>

#include "config/config.h"
#include "tests/config/temporary_folder.h"
#include "tests/import/files.h"

namespace sluice::import::testing {
namespace {

class Translate : public ::testing::Test {
 protected:
  Translate() { folder_.write("users.txt", "\"anna\" \"md50123456789abcdef0123456789abcdef\"\n"); }

  Translation translate_text(const std::string& ini) const {
    const Files files{{{"pgbouncer.ini", ini}}};
    return translate({"pgbouncer.ini", std::nullopt}, files.reader());
  }
  // The same, and what the router's loader says of the result.
  std::shared_ptr<const config::Config> config_of(const std::string& ini) const {
    const Files files{{{"pgbouncer.ini", ini}}};
    const Translation made = translate({"pgbouncer.ini", "users.txt"}, files.reader());
    const config::LoadOutcome outcome = config::load_text(made.yaml, folder_.path("sluice.yaml"));
    std::string problems;
    for (const config::Problem& problem : outcome.problems)
      problems += config::to_string(problem) + "\n";
    EXPECT_TRUE(outcome.config) << problems << made.yaml;
    return outcome.config;
  }
  static bool has_note(const Translation& made, std::uint32_t line, std::string_view key,
                       std::string_view text) {
    for (const Note& note : made.notes)
      if (note.place.line == line && note.key == key && note.text.find(text) != std::string::npos)
        return true;
    return false;
  }
  static std::string notes(const Translation& made) {
    std::string out;
    for (const Note& note : made.notes)
      out += to_string(note) + "\n";
    return out;
  }
  config::TemporaryFolder folder_;
};

TEST_F(Translate, TakesOverWhatBothHave) {
  const auto config = config_of(
      "[databases]\nshop = host=10.0.0.5 port=5433\n[pgbouncer]\nlisten_addr = *\nlisten_port = 7000\n"
      "auth_type = scram-sha-256\nmax_client_conn = 500\nquery_timeout = 30\nadmin_users = anna, otto\n"
      "ignore_startup_parameters = extra_float_digits\ntcp_keepalive = 1\nlog_connections = 0\n");
  ASSERT_TRUE(config);
  EXPECT_EQ(config->options.listen_port, 7000U);
  EXPECT_EQ(config->options.listen_addr, std::vector<std::string>{"*"});
  EXPECT_EQ(config->options.max_client_conn, 500U);
  EXPECT_EQ(config->options.query_timeout.count(), 30);
  EXPECT_EQ(config->options.admin_users, (std::vector<std::string>{"anna", "otto"}));
  EXPECT_FALSE(config->options.log_connections);
  ASSERT_TRUE(config->primary);
  EXPECT_EQ(config->primary->host, "10.0.0.5");
  EXPECT_EQ(config->primary->port, 5433U);
  ASSERT_EQ(config->databases.size(), 1U);
  EXPECT_EQ(config->databases[0].target, config::Target::Primary);
}

TEST_F(Translate, KeepsPgBouncersDefaultOfAuthType) {
  const auto config = config_of("[databases]\n* = host=db\n[pgbouncer]\n");
  ASSERT_TRUE(config);
  EXPECT_EQ(config->options.auth_type, config::AuthMethod::Md5);
  EXPECT_EQ(config->databases[0].name, "*");
}

TEST_F(Translate, TakesEntriesWithSeveralHostsForReplicas) {
  const auto config = config_of(
      "[databases]\nshop = host=p\nshop2 = host=p dbname=two\nshop_ro = host=a,b,c port=5432,5433,5434 "
      "dbname=shop "
      "max_db_client_connections=7 pool_mode=transaction\n[pgbouncer]\n");
  ASSERT_TRUE(config);
  EXPECT_EQ(config->primary->host, "p");
  ASSERT_EQ(config->replicas.size(), 3U);
  EXPECT_EQ(config->replicas[2].host, "c");
  EXPECT_EQ(config->replicas[2].port, 5434U);
  EXPECT_EQ(config->databases[1].server_database, "two");
  EXPECT_EQ(config->databases[2].target, config::Target::Replicas);
  EXPECT_EQ(config->databases[2].max_sessions, 7U);
  EXPECT_EQ(config->databases[2].pool_mode, config::PoolModeOf::Transaction);
}

TEST_F(Translate, SaysWhatItLeavesOutAndWhere) {
  const Translation made = translate_text(
      "[databases]\nshop = host=p user=app password=sesame connect_query='select 1' pool_size=5\nother = "
      "host=q\n"
      "bad = nonsense\npgbouncer = host=p\n[pgbouncer]\nlogfile = /x\ndefault_pool_size = 20\nnosuch = 1\n"
      "query_timeout = fast\nserver_reset_query =\nverbose = 2\n[peers]\n1 = host=x\n[strange]\na = b\n");
  EXPECT_TRUE(has_note(made, 2, "shop.user", "server_user")) << notes(made);
  EXPECT_TRUE(has_note(made, 2, "shop.password", "server_password_file"));
  EXPECT_TRUE(has_note(made, 2, "shop.connect_query", "ALTER DATABASE"));
  EXPECT_TRUE(has_note(made, 2, "shop.pool_size", ""));
  EXPECT_TRUE(has_note(made, 3, "other", "another server, q:5432"));
  EXPECT_TRUE(has_note(made, 4, "bad", "not key=value"));
  EXPECT_TRUE(has_note(made, 5, "pgbouncer", "admin console"));
  EXPECT_TRUE(has_note(made, 7, "logfile", "standard error"));
  EXPECT_TRUE(has_note(made, 8, "default_pool_size", ""));
  EXPECT_TRUE(has_note(made, 9, "nosuch", "no setting"));
  EXPECT_TRUE(has_note(made, 10, "query_timeout", "\"fast\" is not"));
  EXPECT_TRUE(has_note(made, 11, "server_reset_query", "always reset"));
  EXPECT_TRUE(has_note(made, 14, "[peers]", ""));
  EXPECT_TRUE(has_note(made, 16, "a", "[strange] is unknown"));
  EXPECT_EQ(made.yaml.find("sesame"), std::string::npos);
  EXPECT_EQ(notes(made).find("sesame"), std::string::npos);
  EXPECT_NE(made.yaml.find("# pgbouncer.ini:7: logfile"), std::string::npos) << "notes are comments too";
  EXPECT_NE(made.yaml.find("log_level: debug"), std::string::npos);
}

TEST_F(Translate, NeverLetsInMoreThanBefore) {
  for (const auto* type : {"trust", "any", "plain", "pam", "ldap", "hba", "cert"}) {
    const std::string ini = "[databases]\n* = host=p\n[pgbouncer]\nauth_type = " + std::string(type) + "\n";
    const auto config = config_of(ini);
    ASSERT_TRUE(config) << type;
    EXPECT_EQ(config->options.auth_type, config::AuthMethod::ScramSha256) << type;
    EXPECT_TRUE(has_note(translate_text(ini), 4, "auth_type", "")) << type;
  }
}

TEST_F(Translate, ListensOnTheUnixSocketWhereItWasAskedTo) {
  const auto config = config_of(
      "[databases]\n* =\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = 7000\nunix_socket_dir = "
      "/run/pgb\n");
  ASSERT_TRUE(config);
  EXPECT_EQ(config->options.listen_addr, (std::vector<std::string>{"127.0.0.1", "/run/pgb/.s.PGSQL.7000"}));
  EXPECT_EQ(config->primary->host, "/run/pgb") << "no host is the socket in PgBouncer's own folder";
}

TEST_F(Translate, TakesTheLastOfEqualSettings) {
  const auto config = config_of(
      "[databases]\na = host=p\na = host=p dbname=b\n[pgbouncer]\nlisten_port = 1\nlisten_port = 2\n");
  ASSERT_TRUE(config);
  EXPECT_EQ(config->options.listen_port, 2U);
  ASSERT_EQ(config->databases.size(), 1U);
  EXPECT_EQ(config->databases[0].server_database, "b");
}

TEST_F(Translate, WritesPoolModesOfDatabasesAndUsers) {
  const auto config = config_of(
      "[databases]\na = host=p pool_mode=statement\n[users]\nanna = pool_mode=transaction "
      "max_user_connections=3\n"
      "[pgbouncer]\npool_mode = statement\n");
  ASSERT_TRUE(config);
  EXPECT_EQ(config->options.pool_mode, config::PoolMode::Transaction);
  EXPECT_EQ(config->databases[0].pool_mode, config::PoolModeOf::Transaction);
  ASSERT_EQ(config->user_settings.size(), 1U);
  EXPECT_EQ(config->user_settings[0].name, std::vector<std::string>{"anna"});
}

TEST_F(Translate, NamesTheUserlistThatIsGiven) {
  const Files files{{{"pgbouncer.ini", "[databases]\n* = host=p\n[pgbouncer]\nauth_file = /etc/old\n"}}};
  const Translation made = translate({"pgbouncer.ini", "users here.txt"}, files.reader());
  EXPECT_NE(made.yaml.find("auth_file: \"users here.txt\""), std::string::npos) << made.yaml;
  EXPECT_EQ(made.yaml.find("/etc/old"), std::string::npos);
}

TEST_F(Translate, MakesNoYamlOfWhatANameHolds) {
  const auto config = config_of("[databases]\n\"a: b, c}\\n\" = host=p\n[pgbouncer]\n\"x\ty\" = 1\n");
  ASSERT_TRUE(config);
  EXPECT_EQ(config->databases[0].name, "a: b, c}\\n");
}

TEST_F(Translate, GivesNothingOfAFileThatItCannotRead) {
  for (const auto* ini : {"", "nonsense", "[open", "%include nosuch.ini\n"}) {
    const Translation made = translate_text(ini);
    EXPECT_FALSE(made.problems.empty()) << ini;
    EXPECT_TRUE(made.yaml.empty()) << ini;
  }
}

TEST_F(Translate, PassesCheckEvenWithoutDatabases) {
  EXPECT_TRUE(config_of("[pgbouncer]\nlisten_port = 1\n"));
  EXPECT_TRUE(config_of("[databases]\na = nonsense\n[pgbouncer]\n"));
}

}  // namespace
}  // namespace sluice::import::testing
