#include "router/topology.h"

#include <gtest/gtest.h>

#include "router/derive.h"
#include "tests/config/loading.h"
#include "tests/router/snapshot_fixture.h"

namespace sluice::router {
namespace {

std::shared_ptr<const config::Config> file(const std::string& text) {
  const config::LoadOutcome outcome =
      config::Loading().load("auth_file: verifiers\nhealth_check_user: monitor\n" + text);
  EXPECT_TRUE(outcome.config) << config::text_of(outcome.problems);
  return outcome.config;
}

cluster::Member member(const std::string& name, const std::string& host,
                       const std::string& role = "replica") {
  cluster::Member made;
  made.name = name;
  made.host = host;
  made.role_word = role;
  made.role = role == "leader" ? cluster::MemberRole::Leader : cluster::MemberRole::Replica;
  made.state = "running";
  return made;
}

std::string servers(const config::Config& config) {
  std::string out;
  for (const config::Server& server : config.replicas)
    out += server.name + "=" + (server.hostaddr.empty() ? server.host : server.hostaddr) + ":" +
           std::to_string(server.port) + (server.pool.empty() ? "" : "/" + server.pool) +
           (server.weight == 1 ? "" : "*" + std::to_string(server.weight)) + " ";
  return out + "primary=" + (config.primary ? config.primary->name : "");
}

const std::string kPatroni = "patroni_urls: [http://a:8008]\n";

TEST(Topology, IsTheFilesOwnConfigurationWhereNothingHasToBeFound) {
  const auto plain = file("primary: p\nreplicas: [a, b]\n");
  EXPECT_EQ(effective_config(plain, {}), plain);
}

TEST(Topology, TellsWhetherTheNamedPrimaryIsAnother) {
  const auto same = [](const std::string& a, const std::string& b) {
    return names_same_primary(*file(a + "replicas: [a]\n"), *file(b + "replicas: [a, b]\n"));
  };
  EXPECT_TRUE(same("primary: p\n", "primary: {host: p, max_active: 5}\n"));
  EXPECT_FALSE(same("primary: p\n", "primary: q\n"));
  EXPECT_FALSE(same("primary: p\n", "primary: {host: p, port: 5433}\n"));
  EXPECT_FALSE(same("primary: p\n", "primary: [p, q]\n"));
  EXPECT_TRUE(same("primary: [p, q]\n", ""));
}

TEST(Topology, PutsAReplicaForEachAddressInPlaceOfAName) {
  const auto from = file(
      "replicas: [a, {name: r, host: replicas.example, port: 6000, discover: dns, pool: premium, weight: 2}, "
      "b]\n");
  Topology topology;
  EXPECT_EQ(servers(*effective_config(from, topology)), "a:5432=a:5432 b:5432=b:5432 primary=");
  topology.addresses["replicas.example"] = {"10.0.0.1", "fd00::1"};
  const auto effective = effective_config(from, topology);
  EXPECT_EQ(servers(*effective),
            "a:5432=a:5432 r@10.0.0.1=10.0.0.1:6000/premium*2 r@fd00::1=fd00::1:6000/premium*2 b:5432=b:5432 "
            "primary=");
  EXPECT_EQ(effective->replicas[1].host, "replicas.example") << "what TLS verifies";
  EXPECT_EQ(policy::problem_of(config::pool_config(*effective)), std::nullopt);
  EXPECT_EQ(source_of(*from, "r@10.0.0.1"), "dns");
  EXPECT_EQ(source_of(*from, "a:5432"), "file");
}

TEST(Topology, AddsMembersByNameBehindThoseOfTheFile) {
  const auto from =
      file(kPatroni + "replicas: [{name: n3, host: old, pool: premium}, {name: other, host: x}]\n");
  Topology topology;
  EXPECT_EQ(servers(*effective_config(from, topology)), "n3=old:5432/premium other=x:5432 primary=");
  topology.patroni =
      cluster::ClusterView{{member("n1", "h1", "leader"), member("n2", "h2"), member("n3", "h3")}};
  topology.patroni->members[1].pool = "mixed";
  topology.patroni->members[1].weight = 3;
  topology.patroni->members[2].pool = "freemium";
  EXPECT_EQ(servers(*effective_config(from, topology)),
            "n3=h3:5432/premium other=x:5432 n1=h1:5432 n2=h2:5432/mixed*3 primary=");
  EXPECT_EQ(source_of(*from, "n1"), "patroni");
}

TEST(Topology, TakesNoPoolThatIsNone) {
  const auto from = file(kPatroni);
  Topology topology;
  topology.patroni = cluster::ClusterView{{member("n1", "h1")}};
  topology.patroni->members[0].pool = "gold";
  const auto effective = effective_config(from, topology);
  EXPECT_EQ(effective->replicas[0].pool, "");
  EXPECT_EQ(policy::problem_of(config::pool_config(*effective)), std::nullopt);
}

TEST(Topology, TakesTheConfiguredPortOfMembers) {
  Topology topology;
  topology.patroni = cluster::ClusterView{{member("n1", "h1")}};
  EXPECT_EQ(effective_config(file(kPatroni + "patroni_port: 6432\n"), topology)->replicas[0].port, 6432U);
}

TEST(Topology, HasThePrimaryThatWasFoundAndNoOther) {
  const auto from = file(kPatroni);
  Topology topology;
  topology.patroni = cluster::ClusterView{{member("n1", "h1", "leader"), member("n2", "h2")}};
  EXPECT_FALSE(effective_config(from, topology)->primary);
  topology.primary = "n1";
  const auto found = effective_config(from, topology);
  ASSERT_TRUE(found->primary);
  EXPECT_EQ(found->primary->host, "h1");
  EXPECT_TRUE(same_servers(*found, *effective_config(from, topology)));
  topology.primary = "n2";
  EXPECT_FALSE(same_servers(*found, *effective_config(from, topology)));
  topology.primary = "gone";
  EXPECT_FALSE(effective_config(from, topology)->primary);
}

TEST(Topology, FindsThePrimaryAmongThoseOfTheFile) {
  const auto from = file("primary: [{name: a, host: h1}, b]\nreplicas: [{name: a, host: h1}, c]\n");
  Topology topology;
  EXPECT_FALSE(effective_config(from, topology)->primary);
  topology.primary = "b:5432";
  EXPECT_EQ(effective_config(from, topology)->primary->host, "b");
  topology.primary = "a";
  EXPECT_EQ(effective_config(from, topology)->primary->host, "h1");
  EXPECT_EQ(effective_config(from, topology)->primary->pool, "");
}

TEST(Topology, HasNoPrimaryWhileTheOneThatIsNamedIsInRecovery) {
  const auto from = file("primary: p\nreplicas: [a]\n");
  Topology topology;
  topology.primary_in_recovery = true;
  const auto effective = effective_config(from, topology);
  EXPECT_FALSE(effective->primary);
  EXPECT_TRUE(config::has_primary(*effective)) << "there may be one again";
  topology.primary_in_recovery = false;
  EXPECT_TRUE(effective_config(from, topology)->primary);
}

std::vector<cluster::MonitoredServer> monitored(const std::shared_ptr<const config::Config>& from,
                                                const Topology& topology) {
  const auto effective = effective_config(from, topology);
  const Admission admission(config::pool_config(*effective), AdmissionLimits{});
  TelemetryNames names;
  (void)names.update(*effective, admission);
  const std::array<std::byte, 32> mock_secret{};
  const SnapshotPtr snapshot = make_snapshot(effective, {}, admission, names, mock_secret);
  return monitored_servers(*snapshot, *from, topology);
}

TEST(Topology, WatchesEachServerOnceAndThoseThatMayBeThePrimary) {
  const auto from = file("primary: [{name: a, host: h1}, b]\nreplicas: [{name: a, host: h1}, c]\n");
  const auto servers = monitored(from, {});
  ASSERT_EQ(servers.size(), 3U);
  EXPECT_EQ(servers[0].name, "a");
  EXPECT_EQ(servers[0].role, cluster::ServerRole::Replica);
  EXPECT_TRUE(servers[0].may_be_primary);
  EXPECT_EQ(servers[1].name, "c:5432");
  EXPECT_FALSE(servers[1].may_be_primary);
  EXPECT_EQ(servers[2].role, cluster::ServerRole::Candidate);
  EXPECT_EQ(primary_candidates(servers), (std::vector<std::string>{"a", "b:5432"}));
}

TEST(Topology, BarsWhatPatroniSaysIsNotForSessions) {
  Topology topology;
  topology.patroni =
      cluster::ClusterView{{member("n1", "h1", "leader"), member("n2", "h2"), member("n3", "h3")}};
  topology.patroni->members[1].noloadbalance = true;
  topology.patroni->members[2].lag_bytes = 77;
  const auto servers = monitored(file(kPatroni), topology);
  ASSERT_EQ(servers.size(), 3U);
  EXPECT_EQ(servers[0].bar, cluster::DownReason::Leader);
  EXPECT_EQ(servers[1].bar, cluster::DownReason::NoLoadBalance);
  EXPECT_EQ(servers[2].bar, cluster::DownReason::None);
  EXPECT_EQ(servers[2].lag_bytes, 77U);
}

TEST(Topology, ConnectsToTheAddressAndVerifiesTheName) {
  Topology topology;
  topology.addresses["replicas.example"] = {"10.0.0.1"};
  const auto servers =
      monitored(file("replicas: [{name: r, host: replicas.example, discover: dns}]\n"), topology);
  ASSERT_EQ(servers.size(), 1U);
  EXPECT_EQ(servers[0].connect.host, "replicas.example");
  EXPECT_EQ(servers[0].connect.hostaddr, "10.0.0.1");
}

}  // namespace
}  // namespace sluice::router
