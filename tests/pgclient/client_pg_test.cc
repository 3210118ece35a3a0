#include <cstdlib>
#include <memory>

#include <asio/io_context.hpp>
#include <gtest/gtest.h>

#include "base/error.h"
#include "pgclient/auth_query.h"
#include "pgclient/client.h"
#include "tests/support/postgres_fixture.h"
#include "tests/support/run_coroutine.h"

namespace sluice::pgclient {
namespace {

using namespace std::chrono_literals;
using tests::PostgresServer;
using tests::run_coroutine;

class ClientPg : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (!PostgresServer::unavailable()) server_ = std::make_unique<PostgresServer>();
  }
  static void TearDownTestSuite() { server_.reset(); }
  void SetUp() override {
    if (const auto reason = PostgresServer::unavailable()) GTEST_SKIP() << *reason;
  }
  PgResult<Client> connect(ConnectParams params) {
    return run_coroutine(context_, Client::connect(std::move(params), 10s));
  }
  PgResult<Rows> query(Client& client, std::string sql, std::vector<std::optional<std::string>> params = {},
                       std::chrono::milliseconds timeout = 10s, Limits limits = {}) {
    return run_coroutine(context_, client.query(std::move(sql), std::move(params), timeout, limits));
  }

  static std::unique_ptr<PostgresServer> server_;
  asio::io_context context_{1};
};
std::unique_ptr<PostgresServer> ClientPg::server_;

TEST_F(ClientPg, QueriesOverTcpAndUnixSocket) {
  for (const auto& params : {server_->over_tcp(), server_->over_unix_socket()}) {
    auto client = connect(params);
    ASSERT_TRUE(client) << client.error().message;
    auto rows = query(*client, "SELECT $1::text AS a, $2::text AS b", {"x\ny", std::nullopt});
    ASSERT_TRUE(rows) << rows.error().message;
    EXPECT_EQ(rows->columns, (std::vector<std::string>{"a", "b"}));
    ASSERT_EQ(rows->rows.size(), 1U);
    EXPECT_EQ(rows->rows[0][0], "x\ny");
    EXPECT_FALSE(rows->rows[0][1].has_value());
  }
}

TEST_F(ClientPg, GivesSqlstateAndOneLineMessageAndGoesOn) {
  auto client = connect(server_->over_tcp());
  ASSERT_TRUE(client);
  auto rows = query(*client, "SELECT 1/0");
  ASSERT_FALSE(rows);
  EXPECT_EQ(rows.error().sqlstate, "22012");
  EXPECT_EQ(rows.error().message, "division by zero");
  EXPECT_TRUE(query(*client, "SELECT 1"));
}

TEST_F(ClientPg, TellsRefusedLoginsFromFailedConnections) {
  ConnectParams wrong = server_->over_tcp();
  wrong.password = "wrong";
  auto client = connect(wrong);
  ASSERT_FALSE(client);
  EXPECT_EQ(client.error().error.code, PgErrc::LoginFailed) << client.error().message;
  ConnectParams nowhere = server_->over_tcp();
  nowhere.port = 1;
  EXPECT_EQ(connect(nowhere).error().error.code, PgErrc::ConnectFailed);
}

TEST_F(ClientPg, TakesNoPasswordFromTheEnvironment) {
  ::setenv("PGPASSWORD", "postgres", 1);
  ConnectParams params = server_->over_tcp();
  params.password.clear();
  EXPECT_FALSE(connect(params));
  ::unsetenv("PGPASSWORD");
}

TEST_F(ClientPg, TimesOutAndIsBrokenAfterwards) {
  auto client = connect(server_->over_tcp());
  ASSERT_TRUE(client);
  const auto started = std::chrono::steady_clock::now();
  auto rows = query(*client, "SELECT pg_sleep(30)", {}, 100ms);
  ASSERT_FALSE(rows);
  EXPECT_EQ(rows.error().error.code, BaseErrc::Timeout);
  EXPECT_LT(std::chrono::steady_clock::now() - started, 10s);
  EXPECT_FALSE(client->usable());
  EXPECT_EQ(query(*client, "SELECT 1").error().error.code, PgErrc::ConnectionLost);
}

// Left alone, the server would work on for nobody.
TEST_F(ClientPg, CancelsAtTheServerWhatItGaveUp) {
  for (const bool in_pipeline : {false, true}) {
    auto client = connect(server_->over_tcp());
    ASSERT_TRUE(client);
    const std::string sql = "SELECT pg_sleep(61)";
    if (in_pipeline)
      EXPECT_FALSE(run_coroutine(context_, client->pipeline({{sql, {}, {}}, {"SELECT 1", {}, {}}}, 100ms)));
    else
      EXPECT_FALSE(query(*client, sql, {}, 100ms));
    EXPECT_FALSE(run_coroutine(context_, client->settle(100ms))) << "it still sleeps";
    CancelSender sender;
    sender.send(client->cancel());
    const auto started = std::chrono::steady_clock::now();
    EXPECT_TRUE(run_coroutine(context_, client->settle(30s)));
    EXPECT_LT(std::chrono::steady_clock::now() - started, 20s);
    EXPECT_FALSE(client->usable());
    auto other = connect(server_->over_tcp());
    auto active =
        query(*other, "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE $1",
              {"SELECT pg_sleep(61)%"});
    ASSERT_TRUE(active);
    EXPECT_EQ(active->rows[0][0], "0");
  }
}

TEST_F(ClientPg, ACancelOfAConnectionThatIsGoneIsNotDelivered) {
  auto client = connect(server_->over_tcp());
  ASSERT_TRUE(client);
  (void)query(*client, "SELECT pg_terminate_backend(pg_backend_pid())");
  EXPECT_TRUE(run_coroutine(context_, client->settle(1s))) << "nothing runs on it";
  EXPECT_FALSE(Cancel(nullptr).send());
}

TEST_F(ClientPg, TriesItsAddressesInTurn) {
  ConnectParams params = server_->over_tcp();
  const std::string right = params.host;
  params.host = "a-name-that-is-not-looked-up.invalid";
  params.addresses = {"127.255.255.254", right};  // nobody listens at the first
  auto client = connect(params);
  ASSERT_TRUE(client) << client.error().message;
  EXPECT_EQ(client->address(), right);
  params.addresses.pop_back();
  EXPECT_EQ(connect(params).error().error.code, PgErrc::ConnectFailed);
}

TEST_F(ClientPg, RefusesResultsAboveItsLimits) {
  auto client = connect(server_->over_tcp());
  ASSERT_TRUE(client);
  auto many = query(*client, "SELECT generate_series(1, 1000000)", {}, 10s, {100, 1 << 20});
  EXPECT_EQ(many.error().error.code, PgErrc::ResultTooLarge);
  client = connect(server_->over_tcp());
  auto large = query(*client, "SELECT repeat('x', 10000)", {}, 10s, {100, 9'999});
  EXPECT_EQ(large.error().error.code, PgErrc::ResultTooLarge);
}

TEST_F(ClientPg, NoticesABackendThatWasTerminated) {
  auto client = connect(server_->over_tcp());
  ASSERT_TRUE(client);
  auto rows = query(*client, "SELECT pg_terminate_backend(pg_backend_pid())");
  ASSERT_FALSE(rows);
  EXPECT_EQ(rows.error().error.code, PgErrc::ConnectionLost);
  EXPECT_FALSE(client->usable());
}

TEST_F(ClientPg, CountsRowsThatItDoesNotKeep) {
  auto client = connect(server_->over_tcp());
  ASSERT_TRUE(client);
  Limits limits;
  limits.keep = Keep::Count;
  auto rows = query(*client, "SELECT generate_series(1, 100000)", {}, 10s, limits);
  ASSERT_TRUE(rows) << rows.error().message;
  EXPECT_EQ(rows->row_count, 100'000U);
  EXPECT_TRUE(rows->rows.empty());
}

TEST_F(ClientPg, RunsAPipelineAsOneTransaction) {
  auto client = connect(server_->over_tcp());
  ASSERT_TRUE(client);
  for (int round = 0; round < 3; ++round) {
    std::vector<Statement> statements(2);
    statements[0] = {"SELECT transaction_timestamp()::text, $1::text", {"x"}, {}};
    statements[1].sql = "SELECT transaction_timestamp()::text, pg_sleep(0.01)";
    auto all = run_coroutine(context_, client->pipeline(statements, 10s));
    ASSERT_TRUE(all) << all.error().message;
    ASSERT_EQ(all->size(), 2U);
    EXPECT_EQ((*all)[0].rows[0][1], "x");
    EXPECT_EQ((*all)[0].rows[0][0], (*all)[1].rows[0][0]);
  }
  EXPECT_TRUE(query(*client, "SELECT 1"));
}

TEST_F(ClientPg, TellsWhatFailedFirstInAPipelineAndGoesOn) {
  auto client = connect(server_->over_tcp());
  ASSERT_TRUE(client);
  std::vector<Statement> statements(3);
  statements[0].sql = "SELECT 1";
  statements[1].sql = "SELECT 1/0";
  statements[2].sql = "SELECT 2";
  auto all = run_coroutine(context_, client->pipeline(statements, 10s));
  ASSERT_FALSE(all);
  EXPECT_EQ(all.error().sqlstate, "22012");
  EXPECT_EQ(all.error().message, "division by zero");
  EXPECT_TRUE(client->usable());
  EXPECT_TRUE(query(*client, "SELECT 1"));
  auto late = run_coroutine(context_, client->pipeline({{"SELECT pg_sleep(30)", {}, {}}}, 100ms));
  EXPECT_EQ(late.error().error.code, BaseErrc::Timeout);
  EXPECT_FALSE(client->usable());
}

TEST_F(ClientPg, RunsAScriptOfManyStatements) {
  auto client = connect(server_->over_tcp());
  ASSERT_TRUE(client);
  auto done = run_coroutine(
      context_, client->script(
                    "CREATE TEMP TABLE t(a int); INSERT INTO t SELECT generate_series(1, 5); TABLE t;", 10s));
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(done->row_count, 5U);
  auto broken = run_coroutine(context_, client->script("INSERT INTO t VALUES (6); SELECT 1/0", 10s));
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().sqlstate, "22012");
  EXPECT_EQ(query(*client, "SELECT count(*) FROM t")->rows[0][0], "5");
}

TEST_F(ClientPg, TellsTheSqlstateOfARefusedLogin) {
  ConnectParams nowhere = server_->over_tcp();
  nowhere.database = "no such: 12345: database";
  const auto client = connect(nowhere);
  ASSERT_FALSE(client);
  EXPECT_EQ(client.error().sqlstate, "3D000");
  EXPECT_NE(client.error().message.find("FATAL: database \"no such"), std::string::npos)
      << client.error().message;
  EXPECT_EQ(client.error().message.find("LOCATION"), std::string::npos) << client.error().message;
}

TEST_F(ClientPg, GivesStartupOptions) {
  ConnectParams params = server_->over_tcp();
  params.options = "-c sluice.priority=gold -c sluice.host=a\\ b";
  auto client = connect(params);
  ASSERT_TRUE(client) << client.error().message;
  const auto rows =
      query(*client, "SELECT current_setting('sluice.priority'), current_setting('sluice.host')");
  ASSERT_TRUE(rows);
  EXPECT_EQ(rows->rows[0][0], "gold");
  EXPECT_EQ(rows->rows[0][1], "a b");
}

class AuthQueryPg : public ClientPg {
 protected:
  void SetUp() override {
    ClientPg::SetUp();
    if (IsSkipped()) return;
    settings_.servers = {server_->over_unix_socket()};
    settings_.sql = kDefaultAuthQuery;
    settings_.roles_sql = kDefaultRolesQuery;
    settings_.refresh_interval_min = 0ms;
  }
  Result<protocol::Secret> lookup(AuthQuery& auth, std::string user,
                                  Freshness freshness = Freshness::Cached) {
    return run_coroutine(context_, auth.lookup(std::move(user), freshness));
  }
  static asio::awaitable<void> ask(AuthQuery& auth, int* answers) {
    const auto secret = co_await auth.lookup("postgres");
    if (secret) ++*answers;
  }
  AuthQuery::Settings settings_;
};

TEST_F(AuthQueryPg, FindsSecretsCachesThemAndRefreshesOnDemand) {
  server_->sql("DROP ROLE IF EXISTS alice; ");
  server_->sql("CREATE ROLE alice LOGIN PASSWORD 'one'");
  AuthQuery auth(context_.get_executor(), settings_);
  std::vector<LookupOutcome> outcomes;
  auth.on_outcome([&](LookupOutcome outcome) { outcomes.push_back(outcome); });
  const auto first = lookup(auth, "alice");
  ASSERT_TRUE(first) << first.error().code.message();
  EXPECT_TRUE(std::holds_alternative<protocol::ScramVerifier>(*first));
  server_->sql("ALTER ROLE alice PASSWORD 'two'");
  EXPECT_TRUE(*lookup(auth, "alice") == *first);
  EXPECT_FALSE(*lookup(auth, "alice", Freshness::Refresh) == *first);
  EXPECT_TRUE(std::holds_alternative<protocol::UnknownUser>(*lookup(auth, "nobody'; --")));
  EXPECT_TRUE(std::holds_alternative<protocol::UnknownUser>(*lookup(auth, "nobody'; --")));
  EXPECT_EQ(outcomes, (std::vector{LookupOutcome::Found, LookupOutcome::Hit, LookupOutcome::Found,
                                   LookupOutcome::NotFound, LookupOutcome::NegativeHit}));
}

TEST_F(AuthQueryPg, AsksOnceForManyWhoAskAtTheSameTime) {
  AuthQuery auth(context_.get_executor(), settings_);
  int found = 0, hits = 0, answers = 0;
  auth.on_outcome([&](LookupOutcome o) { ++(o == LookupOutcome::Found ? found : hits); });
  for (int i = 0; i < 20; ++i)
    asio::co_spawn(context_, ask(auth, &answers),
                   [](const std::exception_ptr& fault) { EXPECT_EQ(fault, nullptr); });
  context_.run();
  EXPECT_EQ(found, 1);
  EXPECT_EQ(hits, 19);
  EXPECT_EQ(answers, 20);
}

TEST_F(AuthQueryPg, SurvivesALostConnectionAndAServerThatIsAway) {
  ConnectParams nowhere = server_->over_unix_socket();
  nowhere.host = "/nonexistent";
  settings_.servers.insert(settings_.servers.begin(), nowhere);
  AuthQuery auth(context_.get_executor(), settings_);
  EXPECT_TRUE(lookup(auth, "postgres"));
  server_->sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'sluice'");
  EXPECT_TRUE(lookup(auth, "postgres", Freshness::Refresh));
  settings_.servers = {nowhere};
  auth.reconfigure(settings_);
  EXPECT_FALSE(lookup(auth, "postgres"));
}

TEST_F(AuthQueryPg, KeepsWhatItKnowsWhereOnlyTheServersAreOthers) {
  ConnectParams nowhere = server_->over_unix_socket();
  nowhere.host = "/nonexistent";
  AuthQuery auth(context_.get_executor(), settings_);
  EXPECT_TRUE(lookup(auth, "postgres"));
  auth.use_servers({nowhere});
  EXPECT_TRUE(lookup(auth, "postgres"));
  EXPECT_FALSE(lookup(auth, "postgres", Freshness::Refresh));
}

TEST_F(ClientPg, ConnectsToTheAddressInsteadOfTheName) {
  ConnectParams params = server_->over_tcp();
  params.hostaddr = params.host;
  params.host = "name.invalid";
  EXPECT_TRUE(run_coroutine(context_, Client::connect(params, 10s)));
}

TEST_F(AuthQueryPg, ListsRolesAsGranted) {
  server_->sql("DROP ROLE IF EXISTS bob; ");
  server_->sql("DROP ROLE IF EXISTS gold; ");
  server_->sql("DROP ROLE IF EXISTS paying; ");
  server_->sql("CREATE ROLE paying");
  server_->sql("CREATE ROLE gold IN ROLE paying");
  server_->sql("CREATE ROLE bob LOGIN IN ROLE gold");
  AuthQuery auth(context_.get_executor(), settings_);
  auto roles = run_coroutine(context_, auth.roles_of("bob"));
  ASSERT_TRUE(roles);
  EXPECT_EQ(*roles, (std::vector<std::string>{"bob", "gold", "paying"}));
  // Superusers are no members of everything.
  EXPECT_EQ(*run_coroutine(context_, auth.roles_of("postgres")), (std::vector<std::string>{"postgres"}));
  EXPECT_TRUE(run_coroutine(context_, auth.roles_of("nobody"))->empty());
}

}  // namespace
}  // namespace sluice::pgclient
