#include "router/profile_contents.h"

#include <gtest/gtest.h>

#include "router/admission.h"
#include "tests/router/admission_fixture.h"

namespace sluice::router {
namespace {

using namespace std::chrono_literals;

profile::Contents two_by_two() {
  profile::Contents contents;
  contents.hosts.resize(2);
  contents.hosts[0].name = "a";
  contents.hosts[0].client_leg = 100us;
  contents.hosts[0].samples = 7;
  contents.hosts[0].measured_at = profile::Moment{50s};
  contents.hosts[1].name = "b";
  contents.servers.resize(2);
  contents.servers[0].median = 300us;
  contents.servers[0].samples = 5;
  contents.servers[0].measured_at = profile::Moment{60s};
  fit_matrices(contents);
  return contents;
}

TEST(RoundTripMatrix, AddsTheLegsAndTakesTheOlderAgeAndTheFewerSamples) {
  profile::Contents contents = two_by_two();
  fill_round_trips(contents);
  const profile::Rtt& rtt = contents.rtt[0];
  EXPECT_EQ(rtt.estimate, 400us);
  EXPECT_EQ(rtt.samples, 5u);
  EXPECT_EQ(rtt.measured_at, profile::Moment{50s});
  EXPECT_EQ(rtt.source, profile::Rtt::Source::Measured);
}

TEST(RoundTripMatrix, SaysNothingWhereALegIsMissing) {
  profile::Contents contents = two_by_two();
  fill_round_trips(contents);
  for (const std::size_t cell : {1u, 2u, 3u})
    EXPECT_EQ(contents.rtt[cell].source, profile::Rtt::Source::None) << cell;
}

TEST(ClientLegs, KeepAHostUntilAReloadRemovesIt) {
  ClientLegs legs;
  legs.add({{"a", {100us, 200us, 10us, profile::Moment{1s}, false}}, {"b", {}}});
  EXPECT_EQ(legs.all().size(), 2u);
  EXPECT_EQ(legs.all().at("a").estimate, 100us);
  legs.keep_only({"a", "c"});
  EXPECT_EQ(legs.all().count("b"), 0u);
  EXPECT_EQ(legs.all().count("a"), 1u);
}

TEST(AdmissionOfNearReplicas, LooksUpTheRoundTripsOfTheSessionsHost) {
  policy::PoolConfig pools;
  pools.order = policy::ReplicaOrder::Nearest;
  pools.nearest_slack = 10;
  pools.classes = {{"premium", 20, *Ratio::parse("0.6"), 0, 2}};
  pools.replicas = {{"r0", {}}, {"r1", {}}};
  Admission admission(pools, {});
  admission.set_round_trips({{"near-r1", {500us, 200us}}});
  SessionTag tag;
  tag.host = "near-r1";
  EXPECT_EQ(test::granted_at_once(admission, tag)->replica, policy::ReplicaId(1));
  EXPECT_EQ(test::granted_at_once(admission, tag)->replica, policy::ReplicaId(1));
  tag.host = "elsewhere";
  EXPECT_EQ(test::granted_at_once(admission, tag)->replica, policy::ReplicaId(0));
}

}  // namespace
}  // namespace sluice::router
