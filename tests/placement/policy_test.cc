#include "sluice/placement/policy.h"

#include <array>
#include <vector>

#include <gtest/gtest.h>

#include "sluice/placement/calibration.h"

namespace sluice::placement {
namespace {

HostInputs full(double path, double sql, double residual_ms) {
  HostInputs host;
  host.client = host.connect = Millis(path / 2);
  host.path = Millis(path);
  host.sql = Millis(sql);
  host.residual = Millis(residual_ms);
  return host;
}
constexpr RouteInputs kThreeCalls{.n_serial = 3};

TEST(Choose, NobodyWithoutCandidates) {
  std::vector<HostInputs> hosts{full(1, 1, 0), full(2, 1, 0)};
  for (HostInputs& host : hosts)
    host.candidate = false;
  for (const Policy policy : kPolicies)
    EXPECT_EQ(choose(policy, kThreeCalls, hosts), std::nullopt);
  EXPECT_EQ(choose(Policy::UserFirst, kThreeCalls, {}), std::nullopt);
}

TEST(Choose, SkipsAHostThatIsNoCandidate) {
  std::vector<HostInputs> hosts{full(1, 1, 0), full(2, 1, 0)};
  hosts[0].candidate = false;
  for (const Policy policy : kPolicies)
    EXPECT_EQ(choose(policy, kThreeCalls, hosts), 1U);
}

TEST(Choose, TiesGoToTheEarlierHost) {
  const std::vector<HostInputs> hosts(4, full(1, 1, -0.5));
  for (const Policy policy : kPolicies)
    EXPECT_EQ(choose(policy, kThreeCalls, hosts), 0U);
}

TEST(Choose, NegativeResidualsCount) {
  const std::vector<HostInputs> hosts{full(1, 1, 0), full(1.2, 1, -0.3)};
  EXPECT_EQ(choose(Policy::NetworkOnly, kThreeCalls, hosts), 0U);
  EXPECT_EQ(choose(Policy::Profiled, kThreeCalls, hosts), 1U);
}

TEST(Choose, UserFirstTakesTheConnectTimeAndThePathOnlyInItsPlace) {
  std::vector<HostInputs> hosts{full(1, 1, 0), full(2, 1, 0)};
  hosts[0].client = Millis(0.9);
  hosts[1].client = Millis(0.8);
  EXPECT_EQ(choose(Policy::UserFirst, {}, hosts), 1U);
  hosts[1].client.reset();
  EXPECT_EQ(choose(Policy::UserFirst, {}, hosts), 0U);
}

TEST(Choose, UserFirstPutsUnmeasuredHostsLast) {
  std::vector<HostInputs> hosts(3);
  EXPECT_EQ(choose(Policy::UserFirst, {}, hosts), 0U);
  hosts[2].client = Millis(100);
  EXPECT_EQ(choose(Policy::UserFirst, {}, hosts), 2U);
}

TEST(Terms, EachPolicyAddsItsOwn) {
  HostInputs host = full(2, 0.5, -0.25);
  host.dependencies = Millis(0.125);
  const Terms user_first = terms(Policy::UserFirst, kThreeCalls, host);
  EXPECT_EQ(user_first, (Terms{.path = Millis(1)}));
  const Terms network = terms(Policy::NetworkOnly, {3, UpstreamConnection::PerRequest}, host);
  EXPECT_EQ(
      network,
      (Terms{
          .path = Millis(2), .connect = Millis(1), .database = Millis(1.5), .dependencies = Millis(0.125)}));
  const Terms profiled = terms(Policy::Profiled, kThreeCalls, host);
  EXPECT_EQ(profiled, (Terms{.path = Millis(2),
                             .database = Millis(1.5),
                             .dependencies = Millis(0.125),
                             .residual = Millis(-0.25)}));
  EXPECT_EQ(profiled.total(), Millis(3.375));
}

TEST(EffectivePolicy, FollowsWhatIsKnown) {
  const std::vector<HostInputs> known{full(1, 1, 0), full(2, 1, 0)};
  for (const Policy policy : kPolicies)
    EXPECT_EQ(effective_policy(policy, kThreeCalls, known), (Effective{policy, Missing::Nothing, 0}));
}

TEST(EffectivePolicy, NamesTheFirstGap) {
  const auto without = [](auto remove) {
    std::vector<HostInputs> hosts{full(1, 1, 0), full(2, 1, 0)};
    remove(hosts[1]);
    return hosts;
  };
  const auto no_path = without([](HostInputs& h) { h.path.reset(); });
  const auto no_sql = without([](HostInputs& h) { h.sql.reset(); });
  const auto no_residual = without([](HostInputs& h) { h.residual.reset(); });
  const auto no_connect = without([](HostInputs& h) { h.connect.reset(); });
  const RouteInputs per_request{3, UpstreamConnection::PerRequest};
  const Effective by_path{Policy::UserFirst, Missing::Path, 1}, by_sql{Policy::UserFirst, Missing::Sql, 1};
  for (const Policy policy : {Policy::NetworkOnly, Policy::Profiled, Policy::Adaptive}) {
    EXPECT_EQ(effective_policy(policy, {}, no_path), (Effective{Policy::UserFirst, Missing::NSerial, 0}));
    EXPECT_EQ(effective_policy(policy, kThreeCalls, no_path), by_path);
    EXPECT_EQ(effective_policy(policy, kThreeCalls, no_sql), by_sql);
    EXPECT_EQ(effective_policy(policy, per_request, no_connect),
              (Effective{Policy::UserFirst, Missing::Connect, 1}));
    EXPECT_EQ(effective_policy(policy, kThreeCalls, no_connect).policy, policy);
  }
  EXPECT_EQ(effective_policy(Policy::NetworkOnly, kThreeCalls, no_residual).policy, Policy::NetworkOnly);
  EXPECT_EQ(effective_policy(Policy::Profiled, kThreeCalls, no_residual),
            (Effective{Policy::NetworkOnly, Missing::Residual, 1}));
  EXPECT_EQ(effective_policy(Policy::Adaptive, kThreeCalls, no_residual),
            (Effective{Policy::Adaptive, Missing::Residual, 1}));
  EXPECT_EQ(effective_policy(Policy::UserFirst, {}, no_path), Effective{});
}

TEST(EffectivePolicy, ARouteWithoutCallsNeedsNoDatabaseRoundTrip) {
  std::vector<HostInputs> hosts{full(1, 1, 0), full(2, 1, 0)};
  hosts[0].sql.reset();
  EXPECT_EQ(effective_policy(Policy::Profiled, {.n_serial = 0}, hosts).policy, Policy::Profiled);
}

TEST(EffectivePolicy, HostsThatAreNoCandidatesDoNotMatter) {
  std::vector<HostInputs> hosts{full(1, 1, 0), HostInputs{.candidate = false}};
  EXPECT_EQ(effective_policy(Policy::Profiled, kThreeCalls, hosts).policy, Policy::Profiled);
}

TEST(ShareWeighted, IsTheMeanOverTheSharesOfTheClass) {
  const std::array<std::optional<Millis>, 3> rtt{Millis(1), Millis(2), Millis(4)};
  EXPECT_EQ(share_weighted(rtt, std::array{0.5, 0.25, 0.25}), Millis(2));
  EXPECT_EQ(share_weighted(rtt, std::array{2.0, 1.0, 1.0}), Millis(2));
  EXPECT_EQ(share_weighted(rtt, std::array{0.0, 0.0, 1.0}), Millis(4));
}

TEST(ShareWeighted, EqualSharesForAClassWithoutSessions) {
  const std::array<std::optional<Millis>, 2> rtt{Millis(1), Millis(2)};
  EXPECT_EQ(share_weighted(rtt, std::array{0.0, 0.0}), Millis(1.5));
}

TEST(ShareWeighted, LeavesOutWhatNobodyMeasured) {
  const std::array<std::optional<Millis>, 2> rtt{Millis(1), std::nullopt};
  EXPECT_EQ(share_weighted(rtt, std::array{0.5, 0.5}), Millis(1));
  EXPECT_EQ(share_weighted(rtt, std::array{0.0, 1.0}), std::nullopt);
  EXPECT_EQ(share_weighted({}, {}), std::nullopt);
}

TEST(Crossover, NegativeWhenTheFarHostWinsFromTheFirstCallOn) {
  EXPECT_LT(crossover({Millis(2), Millis(2)}, {Millis(1), Millis(1)}).value(), 0);
}

TEST(Names, AreThoseOfTheConfiguration) {
  EXPECT_EQ(policy_name(Policy::NetworkOnly), "network_only");
  EXPECT_EQ(missing_name(Missing::NSerial), "n_serial");
}

}  // namespace
}  // namespace sluice::placement
