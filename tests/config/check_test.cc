#include <gtest/gtest.h>

#include "tests/config/loading.h"

namespace sluice::config {
namespace {

class Check : public testing::Test {
 protected:
  LoadOutcome with(std::string_view more) const { return loading_.load_with(more); }
  Loading loading_;
};

TEST_F(Check, RefusesTargetsThatNeedMoreReplicasThanThereAre) {
  EXPECT_TRUE(has_error(with("classes:\n- {name: a, target: 2}\n- {name: b, target: 2}\n"), "classes",
                        "add up to 4, and there are 3"));
}

TEST_F(Check, WarnsOfAWatermarkThatNothingIsBelow) {
  EXPECT_TRUE(has_warning(with("classes:\n- {name: a, saturation: 1, return_ratio: 0.60, target: 1}\n"),
                          "classes[0].return_ratio", "a watermark of 0"));
}

TEST_F(Check, WarnsOfProportionalSharesThatPreferNobody) {
  const char* const kAlike = "all weigh the same";
  const std::string classes = "classes: [{name: a, target: 1}, {name: b, target: 1}]\n";
  EXPECT_TRUE(has_warning(with("policy: proportional\n" + classes), "classes", kAlike));
  EXPECT_FALSE(has_warning(with(classes), "classes", kAlike));
  EXPECT_FALSE(has_warning(with("policy: proportional\n"), "classes", kAlike))
      << "the usual classes weigh 2 and 1";
  EXPECT_FALSE(has_warning(with("policy: proportional\nweight_target: \"median:0.8\"\n" + classes), "classes",
                           kAlike));
}

TEST_F(Check, ReadsTheTargetOfAWeight) {
  for (const char* target : {"median:0.8", "p95:40ms", "median:2s"})
    EXPECT_TRUE(with("policy: proportional\nweight_target: \"" + std::string(target) + "\"\n").config)
        << target;
  EXPECT_TRUE(has_error(with("weight_target: mean\n"), "weight_target", "\"mean\" is not a target"));
  EXPECT_TRUE(has_warning(with("weight_target: \"p95:2\"\n"), "weight_target", "is not used: policy is plb"));
  EXPECT_TRUE(has_warning(with("weight_limit: 4\n"), "weight_limit", "there is no weight_target"));
  EXPECT_TRUE(has_error(with("weight_limit: 0\n"), "weight_limit", "a decimal from 0.001 to 1000"));
}

TEST_F(Check, RefusesUnknownNamesAndSuggestsKnownOnes) {
  EXPECT_TRUE(has_error(with("default_class: freemuim\n"), "default_class", "did you mean freemium?"));
  EXPECT_TRUE(has_error(with("rules: [{class: gold}]\n"), "rules[0].class", "there is no class \"gold\""));
  EXPECT_TRUE(
      has_error(with("rules: [{listener: pubic, class: premium}]\nlisteners: [{name: public, address: x}]\n"),
                "rules[0].listener", "did you mean public?"));
  EXPECT_TRUE(has_error(loading_.load("auth_file: verifiers\nreplicas: [{host: a, pool: premum}]\n"),
                        "replicas[0].pool", "did you mean premium?"));
}

TEST_F(Check, RefusesNamesGivenTwice) {
  EXPECT_TRUE(has_error(loading_.load("auth_file: verifiers\nreplicas: [a, b, a]\n"), "replicas[2].name",
                        "is the name of replicas[0] already"));
  EXPECT_TRUE(has_error(with("classes: [{name: a, target: 1}, {name: a, target: 1}]\n"), "classes[1].name",
                        "classes[0]"));
  EXPECT_TRUE(has_error(with("databases: [{name: a}, {name: a}]\n"), "databases[1].name", "databases[0]"));
}

TEST_F(Check, WarnsOfAReplicaThatIsThePrimary) {
  const auto loaded =
      loading_.load("auth_file: verifiers\nprimary: a:5433\nreplicas: [{name: r, host: a, port: 5433}]\n");
  EXPECT_TRUE(has_warning(loaded, "replicas[0]", "is the primary too"));
  EXPECT_FALSE(has_warning(loading_.load("auth_file: verifiers\nprimary: a:5433\nreplicas: [a:5434]\n"),
                           "replicas[0]", "is the primary too"));
}

// The name of a server without one is made of its host, and names are labels.
TEST_F(Check, RefusesHostsThatAreNoNames) {
  EXPECT_TRUE(has_error(loading_.load("auth_file: verifiers\nreplicas: [a b]\n"), "replicas[0]",
                        "\"a b\" is not a name"));
}

TEST_F(Check, RefusesAClassCalledMixed) {
  EXPECT_TRUE(
      has_error(with("classes: [{name: mixed, target: 1}]\n"), "classes[0].name", "belongs to no class"));
}

TEST_F(Check, RefusesAPrimaryTargetWithoutAPrimary) {
  EXPECT_TRUE(has_error(
      loading_.load("auth_file: verifiers\nreplicas: [a]\ndatabases: [{name: x, target: primary}]\n"),
      "databases[0].target", "there is no primary"));
}

TEST_F(Check, WarnsOfRulesThatAreNeverReached) {
  EXPECT_TRUE(has_warning(with("rules: [{class: premium}, {user: a, class: premium}]\n"), "rules[1]",
                          "never reached"));
  EXPECT_TRUE(has_warning(with("hba: [{method: scram-sha-256}, {user: a, method: reject}]\n"), "hba[1]",
                          "never reached"));
}

TEST_F(Check, JudgesBudgets) {
  const std::string slots = "max_active: 4\n";
  EXPECT_TRUE(has_error(with("budgets: [{name: a, class: gold, active_share: 0.5}]\n"), "budgets[0].class",
                        "there is no class \"gold\""));
  EXPECT_TRUE(has_error(with("budgets: [{name: a, active_share: 1.5}]\n"), "budgets[0].active_share", ""));
  EXPECT_TRUE(has_error(with("budgets: [{name: a, user: x}, {name: a, user: y}]\n"), "budgets[1].name",
                        "budgets[0]"));
  EXPECT_TRUE(has_warning(with(slots + "budgets: [{name: a, user: x}]\n"), "budgets[0]", "limits nothing"));
  EXPECT_TRUE(has_warning(with(slots + "budgets: [{name: a, busy_share: 0.5}, {name: b, busy_share: 0.5}]\n"),
                          "budgets[1]", "is never reached"));
  const std::string good = "budgets: [{name: a, route: /feed, active_share: 0.5, mode: enforce}]\n";
  EXPECT_TRUE(has_warning(with(good), "budgets", "set max_active"));
  const std::string replicas = "replicas: [{host: a, max_active: 2}, {host: b, max_active: 2}]\n";
  EXPECT_FALSE(
      has_warning(loading_.load("auth_file: verifiers\n" + replicas + good), "budgets", "set max_active"));
  EXPECT_TRUE(has_warning(loading_.load("auth_file: verifiers\n" + replicas + "primary: p:5432\n" + good),
                          "budgets", "set max_active"));
  const LoadOutcome outcome = with(slots + good);
  ASSERT_TRUE(outcome.config);
  EXPECT_FALSE(has_warning(outcome, "budgets", "set max_active"));
  EXPECT_EQ(outcome.config->budgets[0].mode, BudgetMode::Enforce);
}

TEST_F(Check, JudgesTheUseOfSizes) {
  const std::string slots = "max_active: 4\n";
  EXPECT_FALSE(learns_sizes(*with(slots).config));
  EXPECT_TRUE(learns_sizes(*with("size_learning: on\n").config));
  const LoadOutcome by_size = with(slots + "order_within_pool: sita_e\n");
  ASSERT_TRUE(by_size.config);
  EXPECT_TRUE(learns_sizes(*by_size.config));
  EXPECT_EQ(by_size.config->options.order_within_pool, policy::ReplicaOrder::SitaE);
  EXPECT_FALSE(has_warning(by_size, "order_within_pool", ""));
  EXPECT_TRUE(has_warning(with("order_within_pool: sita_v\n"), "order_within_pool", "set max_active"));
  EXPECT_TRUE(has_warning(with(slots + "policy: round_robin\norder_within_pool: sita_v\n"),
                          "order_within_pool", "is not used"));
  const std::string shortest = slots + "queue_discipline: shortest_first\n";
  EXPECT_TRUE(learns_sizes(*with(shortest).config));
  EXPECT_FALSE(has_warning(with(shortest), "queue_ageing", ""));
  EXPECT_TRUE(has_warning(with(shortest + "queue_ageing: 0\n"), "queue_ageing", "for ever"));
  EXPECT_EQ(with("replica_order: nearest\n").config->options.order_within_pool, policy::ReplicaOrder::Nearest)
      << "its former name";
  EXPECT_TRUE(has_error(with("replica_order: furthest\n"), "replica_order", "nearest"));
}

TEST_F(Check, RefusesTrustBeyondLoopbackUnlessSaidSo) {
  EXPECT_TRUE(has_error(with("server_user: s\nhba: [{method: trust}]\n"), "hba[0]", "beyond loopback"));
  EXPECT_TRUE(has_error(with("server_user: s\nhba: [{network: [127.0.0.0/8, 10.0.0.0/8], method: trust}]\n"),
                        "hba[0]", "beyond loopback"));
  EXPECT_TRUE(
      has_error(with("server_user: s\nhba: [{network: 0.0.0.0/0, method: trust}]\n"), "hba[0]", "loopback"));
  for (const char* const fine :
       {"server_user: s\nhba: [{network: [127.0.0.1, \"::1\", unix], method: trust}]\n",
        "server_user: s\ntrust_anywhere: true\nhba: [{method: trust}]\n",
        "server_user: s\nauth_type: trust\n"})
    EXPECT_TRUE(with(fine).config) << fine << text_of(with(fine).problems);
}

TEST_F(Check, NarrowsAuthTypeTrustToLoopback) {
  const LoadOutcome outcome = with("server_user: s\nauth_type: trust\n");
  ASSERT_TRUE(outcome.config);
  EXPECT_EQ(outcome.config->hba.at(0).network.size(), 3U);
}

TEST_F(Check, RefusesAWayInWithoutAWayOn) {
  for (const char* const way_in : {"auth_type: trust\n", "auth_type: passthrough\n",
                                   "hba: [{network: unix, user: scram, method: trust}]\n"}) {
    const LoadOutcome outcome = with(way_in);
    EXPECT_EQ(outcome.config, nullptr) << way_in;
    EXPECT_NE(text_of(outcome.problems).find("whom no server lets in"), std::string::npos) << way_in;
    EXPECT_TRUE(with(std::string(way_in) + "server_user: s\n").config) << way_in;
  }
}

TEST_F(Check, LetsSecretsOfAuthFileBeTheWayOn) {
  const std::string base = "replicas: [a]\nauth_file: users\n";
  const auto load = [&](const std::string& users) {
    return loading_.load(base + "hba: [{network: unix, user: " + users + ", method: trust}]\n").config;
  };
  EXPECT_TRUE(load("[hash, plain]"));
  EXPECT_FALSE(load("[hash, scram]"));
  EXPECT_FALSE(load("[nobody]"));
  EXPECT_FALSE(load("\"*\""));
}

TEST_F(Check, NeedsNoWayOnForTheConsole) {
  EXPECT_TRUE(
      with("hba: [{network: unix, database: [sluice, pgbouncer], method: trust}, {method: scram-sha-256}]\n")
          .config);
}

TEST_F(Check, SaysWhoseSecretTheMethodCannotCheck) {
  const std::string base = "replicas: [a]\nauth_file: users\n";
  EXPECT_TRUE(has_warning(loading_.load(base), "auth_type", "user \"hash\" has an md5 hash"));
  EXPECT_TRUE(has_error(loading_.load(base + "hba: [{user: hash, method: scram-sha-256}]\n"), "hba[0]",
                        "an md5 hash"));
  EXPECT_TRUE(
      has_warning(loading_.load(base + "hba: [{user: scram, method: md5}]\n"), "hba[0]", "asked for SCRAM"));
  const LoadOutcome split =
      loading_.load(base + "hba: [{user: hash, method: md5}, {method: scram-sha-256}]\n");
  EXPECT_EQ(text_of(split.problems).find("hba"), std::string::npos) << text_of(split.problems);
}

TEST_F(Check, WarnsOfPlainPasswords) {
  EXPECT_TRUE(
      has_warning(loading_.load("replicas: [a]\nauth_file: users\n"), "auth_file", "1 plain password"));
}

TEST_F(Check, WarnsOfFilesThatEverybodyCanRead) {
  loading_.folder().write("open", "\"u\" \"\"\n", 0644);
  EXPECT_TRUE(has_warning(loading_.load("replicas: [a]\nauth_file: open\n"), "auth_file",
                          "every user of this machine"));
}

TEST_F(Check, RefusesFilesThatCannotBeRead) {
  EXPECT_TRUE(has_error(with("client_tls_ca_file: none.pem\n"), "client_tls_ca_file", "No such file"));
  EXPECT_TRUE(has_error(loading_.load("replicas: [a]\nauth_file: none\n"), "auth_file", "No such file"));
}

TEST_F(Check, RefusesTlsWithoutACertificate) {
  const LoadOutcome outcome = with("client_tls_sslmode: require\n");
  EXPECT_TRUE(has_error(outcome, "client_tls_cert_file", "is missing"));
  EXPECT_TRUE(has_error(outcome, "client_tls_key_file", "is missing"));
  EXPECT_TRUE(has_error(
      with("client_tls_sslmode: verify-full\nclient_tls_cert_file: cert\nclient_tls_key_file: cert\n"),
      "client_tls_ca_file", "is missing"));
  EXPECT_TRUE(has_error(with("hba: [{tls: required, method: scram-sha-256}]\n"), "hba[0]", "needs TLS"));
}

TEST_F(Check, RefusesCertificateLoginThatCannotVerify) {
  const LoadOutcome outcome = with("server_user: s\nhba: [{tls: off, method: cert}]\n");
  EXPECT_TRUE(has_error(outcome, "hba[0]", "the rule says tls: off"));
  EXPECT_TRUE(has_error(outcome, "hba[0]", "client_tls_sslmode is disable"));
  EXPECT_TRUE(has_error(outcome, "hba[0]", "needs client_tls_ca_file"));
}

TEST_F(Check, RefusesVerifyingServersWithoutACa) {
  EXPECT_TRUE(has_error(with("server_tls_sslmode: verify-full\n"), "server_tls_ca_file", "is missing"));
  EXPECT_TRUE(with("server_tls_sslmode: verify-full\nserver_tls_ca_file: system\n").config);
  EXPECT_TRUE(has_error(with("server_tls_cert_file: cert\n"), "server_tls_key_file", "go together"));
}

TEST_F(Check, RefusesRolesThatNobodyCanLookUp) {
  EXPECT_TRUE(has_error(with("rules: [{role: staff, class: premium}]\n"), "rules[0].role", "auth_user"));
}

TEST_F(Check, RefusesLagLimitsThatNobodyMeasures) {
  EXPECT_TRUE(has_error(with("max_replica_lag: 10s\n"), "max_replica_lag", "health_check_user"));
}

}  // namespace
}  // namespace sluice::config
