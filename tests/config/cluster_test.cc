// Where servers come from: several that may be the primary, Patroni, DNS.

#include <gtest/gtest.h>

#include "config/print.h"
#include "tests/config/loading.h"

namespace sluice::config {
namespace {

const std::string kChecks = "auth_file: verifiers\nhealth_check_user: monitor\n";

TEST(ClusterConfig, ReadsSeveralServersThatMayBeThePrimary) {
  const LoadOutcome outcome = Loading().load(
      kChecks +
      "primary: [a:5433, {name: second, host: b}, c]\nreplicas: [{name: first, host: a, port: 5433}]\n" +
      "databases: [{name: app, target: primary}]\n");
  ASSERT_TRUE(outcome.config) << text_of(outcome.problems);
  EXPECT_FALSE(outcome.config->primary);
  const auto& candidates = outcome.config->primary_candidates;
  ASSERT_EQ(candidates.size(), 3U);
  EXPECT_EQ(candidates[0].name, "first") << "the replica at the same address has a name already";
  EXPECT_EQ(candidates[1].name, "second");
  EXPECT_EQ(candidates[2].name, "c:5432");
  EXPECT_NE(effective_values(*outcome.config).find("primary:\n  - {name: first"), std::string::npos);
}

TEST(ClusterConfig, TakesAListOfOneForTheOneThatIsNamed) {
  const LoadOutcome outcome = Loading().load("auth_file: verifiers\nprimary: [a:5433]\nreplicas: [b]\n");
  ASSERT_TRUE(outcome.config) << text_of(outcome.problems);
  ASSERT_TRUE(outcome.config->primary);
  EXPECT_EQ(outcome.config->primary->port, 5433U);
  EXPECT_TRUE(outcome.config->primary_candidates.empty());
}

TEST(ClusterConfig, WantsChecksThatLogInWhereThePrimaryIsOneOfSeveral) {
  const LoadOutcome outcome = Loading().load("auth_file: verifiers\nprimary: [a, b]\nreplicas: [c]\n");
  EXPECT_TRUE(has_error(outcome, "primary", "only known from checks that log in"));
}

TEST(ClusterConfig, RefusesCandidatesOfOneName) {
  const LoadOutcome outcome =
      Loading().load(kChecks + "primary: [a, {name: x, host: b}, {name: x, host: c}, a]\n" +
                     "replicas: [{name: x, host: d}]\n");
  EXPECT_TRUE(has_error(outcome, "primary[2]", "is the name of primary[1] already"));
  EXPECT_TRUE(has_error(outcome, "primary[3]", "is the name of primary[0] already"));
  EXPECT_TRUE(has_error(outcome, "primary[1]", "the name of a replica elsewhere"));
}

TEST(ClusterConfig, NeedsNoListOfReplicasWherePatroniTellsThem) {
  const LoadOutcome outcome = Loading().load(
      kChecks + "patroni_urls: [http://a:8008, https://b:8008]\npatroni_tls_ca_file: system\n" +
      "databases: [{name: app, target: primary}]\nclasses: [{name: gold, target: 5}]\n");
  ASSERT_TRUE(outcome.config) << text_of(outcome.problems);
  EXPECT_TRUE(has_primary(*outcome.config));
  EXPECT_TRUE(finds_replicas(*outcome.config));
  EXPECT_TRUE(pool_config(*outcome.config).replicas.empty());
}

TEST(ClusterConfig, RefusesWhatPatroniWouldContradict) {
  const LoadOutcome outcome =
      Loading().load(kChecks + "patroni_urls: [a:8008]\nprimary: a\n" + "patroni_tls_key_file: verifiers\n");
  EXPECT_TRUE(has_error(outcome, "patroni_urls", "begins neither with http:// nor with https://"));
  EXPECT_TRUE(has_error(outcome, "primary", "is what patroni_urls tells already"));
  EXPECT_TRUE(has_error(outcome, "patroni_tls_cert_file", "is missing"));
}

TEST(ClusterConfig, WarnsWhereThePasswordForPatroniGoesToAnybody) {
  const std::string https = kChecks + "patroni_urls: [https://a:8008]\npatroni_user: router\n" +
                            "patroni_password_file: verifiers\n";
  const LoadOutcome unverified = Loading().load(https);
  ASSERT_TRUE(unverified.config) << text_of(unverified.problems);
  EXPECT_NE(text_of(unverified.problems).find("goes to whoever answers"), std::string::npos);
  const LoadOutcome verified = Loading().load(https + "patroni_tls_ca_file: system\n");
  ASSERT_TRUE(verified.config) << text_of(verified.problems);
  EXPECT_EQ(text_of(verified.problems).find("goes to whoever answers"), std::string::npos);
}

TEST(ClusterConfig, ExpandsNamesOfReplicasAlone) {
  const LoadOutcome good =
      Loading().load(kChecks + "replicas: [{name: r, host: replicas.example, discover: dns, weight: 3}]\n" +
                     "dns_max_ttl: 5\n");
  ASSERT_TRUE(good.config) << text_of(good.problems);
  EXPECT_TRUE(finds_replicas(*good.config));
  EXPECT_EQ(good.config->replicas[0].weight, 3U);
  const LoadOutcome bad = Loading().load(
      kChecks + "primary: {host: p, discover: dns, weight: 2}\n" +
      "replicas: [{name: r, host: 10.0.0.1, discover: dns}, {name: s, host: /run, discover: dns}]\n");
  EXPECT_TRUE(has_error(bad, "primary.discover", "is for replicas"));
  EXPECT_TRUE(has_error(bad, "primary.weight", "is for replicas"));
  EXPECT_TRUE(has_error(bad, "replicas[0].discover", "is no name to look up"));
  EXPECT_TRUE(has_error(bad, "replicas[1].discover", "is no name to look up"));
}

}  // namespace
}  // namespace sluice::config
