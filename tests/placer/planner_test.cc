#include "placer/planner.h"

#include <gtest/gtest.h>

#include "config/placer_config.h"

namespace sluice::placer {
namespace {

using namespace std::chrono_literals;
using placement::Missing;
using placement::Policy;

const auto kNow = std::chrono::steady_clock::time_point(1000h);

SnapshotPtr snapshot_of(std::string_view more) {
  const auto loaded = config::load_placer_text(
      "compute_hosts: [{name: a, address: x}, {name: b, address: y}]\n" + std::string(more), "/placer.yaml");
  EXPECT_TRUE(loaded.config);
  auto snapshot = std::make_shared<Snapshot>();
  snapshot->config = loaded.config;
  for (const auto& host : loaded.config->compute_hosts)
    snapshot->hosts.push_back(std::make_shared<HostState>(host.name, net::ConnectTarget{host.address, 80}));
  return snapshot;
}

Knowledge measured() {
  Knowledge knowledge;
  HostReport a, b;
  a.path = 741us, a.connect = 88us, a.up = true;
  b.path = 1480us, b.connect = 601us, b.up = true;
  knowledge.hosts = {a, b};
  return knowledge;
}

// Two replicas and a primary; one route of twelve calls. The hosts stand in another order than in the
// configuration.
profile::Profile profile_of() {
  profile::Profile profile;
  profile.publication.publications = 1;
  profile.publication.interval = 1s;
  profile.publication.heartbeat = profile.publication.contents_at = kNow - 1s;
  profile::Contents& c = profile.contents;
  c.hosts.resize(2);
  c.hosts[0].name = "b";
  c.hosts[1].name = "a";
  c.servers.resize(3);
  for (std::size_t i = 0; i < 3; ++i) {
    c.servers[i].name = "s" + std::to_string(i);
    c.servers[i].up = true;
  }
  c.servers[2].role = profile::ServerRole::Primary;
  c.classes = {"premium", "freemium"};
  c.routes.resize(1);
  c.routes[0].name = "/feed";
  c.routes[0].priority_class = "freemium";
  c.routes[0].requests = 100;
  c.routes[0].n_serial_median = 12;
  profile::fit_matrices(c);
  const auto rtt = [&](std::size_t host, std::size_t server, std::chrono::nanoseconds time) {
    c.rtt[host * 3 + server] = {time, 10, profile::Rtt::Source::Measured, kNow - 1s};
  };
  rtt(0, 0, 200us), rtt(0, 1, 400us), rtt(0, 2, 231us);
  rtt(1, 0, 300us), rtt(1, 1, 700us), rtt(1, 2, 355us);
  c.shares = {1, 0, 0, 0.25, 0.75, 0};
  c.residuals[0] = {197us, 500, kNow - 1h};
  c.residuals[1] = {649us, 500, kNow - 1h};
  return profile;
}

TEST(Planner, TakesTheTermsFromTheProfile) {
  Knowledge knowledge = measured();
  knowledge.profile = profile_of();
  const View view = make_view(
      snapshot_of("policy: profiled\nprofile_path: p\nroutes: [{pattern: /feed, target: primary}]\n"),
      knowledge, kNow);
  const RouteView& feed = view.routes[0];
  EXPECT_EQ(feed.effective.policy, Policy::Profiled);
  EXPECT_EQ(feed.why, "");
  EXPECT_NEAR(placement::terms(Policy::Profiled, feed.inputs, feed.hosts[0]).total().count(), 5.650, 1e-9);
  EXPECT_NEAR(placement::terms(Policy::Profiled, feed.inputs, feed.hosts[1]).total().count(), 4.449, 1e-9);
  EXPECT_EQ(placement::choose(feed.effective.policy, feed.inputs, feed.hosts), 1U);
  EXPECT_EQ(view.routes[1].effective.policy, Policy::UserFirst) << "of no route";
}

TEST(Planner, WeighsReplicasByTheSharesOfTheClass) {
  Knowledge knowledge = measured();
  knowledge.profile = profile_of();
  const auto sql_of = [&](const std::string& route) {
    const View view = make_view(snapshot_of("policy: profiled\nprofile_path: p\nroutes: [" + route + "]\n"),
                                knowledge, kNow);
    return view.routes[0].hosts[0].sql->count();
  };
  EXPECT_NEAR(sql_of("{pattern: /feed}"), 0.25 * 0.3 + 0.75 * 0.7, 1e-9)
      << "the class that the profile names";
  EXPECT_NEAR(sql_of("{pattern: /feed, class: premium}"), 0.3, 1e-9);
  EXPECT_NEAR(sql_of("{pattern: /other, n_serial: 1}"), 0.5, 1e-9) << "all alike";
  knowledge.profile->contents.servers[1].up = false;
  EXPECT_NEAR(sql_of("{pattern: /feed}"), 0.3, 1e-9) << "without the one that is down";
}

TEST(Planner, ComesDownAndSaysWhy) {
  const SnapshotPtr snapshot = snapshot_of(
      "policy: profiled\nprofile_path: p\nroutes: [{pattern: /feed}, {pattern: /fixed, n_serial: 2}]\n");
  Knowledge knowledge = measured();
  const auto effective = [&](std::size_t route) {
    return make_view(snapshot, knowledge, kNow).routes[route].effective;
  };
  EXPECT_EQ(effective(0).policy, Policy::UserFirst);
  EXPECT_EQ(effective(0).missing, Missing::NSerial);
  EXPECT_EQ(effective(1).missing, Missing::Sql);
  knowledge.profile = profile_of();
  EXPECT_EQ(effective(0).policy, Policy::Profiled);
  EXPECT_EQ(effective(1).policy, Policy::NetworkOnly);
  EXPECT_EQ(effective(1).missing, Missing::Residual);
  const PolicyState state = policy_state(make_view(snapshot, knowledge, kNow), knowledge);
  EXPECT_TRUE(state.degraded);
  EXPECT_EQ(state.reasons.front(), "/fixed by network_only: it is not calibrated on a");

  knowledge.profile->contents.routes[0].requests = 3;
  EXPECT_EQ(effective(0).missing, Missing::NSerial) << "too thin";
  knowledge.profile = profile_of();
  knowledge.profile->contents.routes[0].untraced_share = 0.11;
  EXPECT_EQ(effective(0).missing, Missing::NSerial) << "too much without a trace";
  knowledge.profile->contents.routes[0].n_serial_calibrated = 12;
  EXPECT_EQ(effective(0).policy, Policy::Profiled) << "the calibrated number stands in";
  knowledge.profile = profile_of();
  for (profile::Rtt& rtt : knowledge.profile->contents.rtt)
    rtt.measured_at = kNow - 10min;
  EXPECT_EQ(effective(0).missing, Missing::Sql) << "round trips too old";
  knowledge.profile = profile_of();
  knowledge.hosts[1].path.reset();
  EXPECT_EQ(effective(0).missing, Missing::Path);
}

TEST(Planner, DoesNotBelieveAnOldProfile) {
  const SnapshotPtr snapshot = snapshot_of("policy: profiled\nprofile_path: p\nprofile_max_age: 5s\n");
  profile::Profile profile = profile_of();
  EXPECT_EQ(distrust(profile, snapshot->options(), kNow), "");
  EXPECT_NE(distrust(profile, snapshot->options(), kNow + 5s), "") << "no sign of life";
  profile.publication.contents_at = kNow - 6s;
  EXPECT_NE(distrust(profile, snapshot->options(), kNow).find("profile_max_age"), std::string::npos)
      << "a mirror's";
  profile = profile_of();
  profile.publication.closed = true;
  EXPECT_NE(distrust(profile, snapshot->options(), kNow), "");
  profile = profile_of();
  profile.publication.publications = 0;
  EXPECT_NE(distrust(profile, snapshot->options(), kNow), "");
}

TEST(Planner, CountsConnectsAndDependencies) {
  Knowledge knowledge = measured();
  knowledge.profile = profile_of();
  const View view =
      make_view(snapshot_of("policy: profiled\nprofile_path: p\nupstream_keepalive: false\n"
                            "routes: [{pattern: /feed, target: primary}]\n"
                            "dependencies: [{name: redis, rtt: {a: 1ms, b: 2ms}, n_serial: {/feed: 3}}]\n"),
                knowledge, kNow);
  const placement::Terms terms =
      placement::terms(Policy::Profiled, view.routes[0].inputs, view.routes[0].hosts[0]);
  EXPECT_NEAR(terms.connect.count(), 0.088, 1e-9);
  EXPECT_NEAR(terms.dependencies.count(), 3, 1e-9);
}

}  // namespace
}  // namespace sluice::placer
