#include <algorithm>
#include <chrono>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "sluice/policy/assignment.h"

#include "tests/policy/history.h"

namespace sluice::policy {
namespace {

using namespace std::chrono_literals;
using RoundTrips = std::vector<std::chrono::nanoseconds>;

PoolConfig nearest_config(PolicyKind policy, std::int64_t slack) {
  PoolConfig config;
  config.policy = policy;
  config.order = ReplicaOrder::Nearest;
  config.nearest_slack = slack;
  config.classes = {{"premium", 10, *Ratio::parse("0.6"), 0, 3}};
  config.replicas = {{"r0", {}}, {"r1", {}}, {"r2", {}}};
  return config;
}

std::vector<std::uint32_t> picks(Assignment& assignment, const RoundTrips& round_trips, int count) {
  std::vector<std::uint32_t> out;
  for (int i = 0; i < count; ++i)
    out.push_back(assignment.admit({ClassId(0), "a", std::nullopt, round_trips}).replica.value());
  return out;
}

TEST(NearestOrder, GivesTheNearestUntilItIsSlackAboveTheLeast) {
  for (const PolicyKind policy : {PolicyKind::Plb, PolicyKind::LeastLoaded}) {
    Assignment assignment(nearest_config(policy, 2));
    EXPECT_EQ(picks(assignment, {300us, 100us, 200us}, 9),
              (std::vector<std::uint32_t>{1, 1, 1, 2, 2, 2, 0, 1, 2}))
        << policy_name(policy);
  }
}

TEST(NearestOrder, OnlyBreaksTiesWithoutSlack) {
  Assignment assignment(nearest_config(PolicyKind::Plb, 0));
  EXPECT_EQ(picks(assignment, {300us, 100us, 200us}, 6), (std::vector<std::uint32_t>{1, 2, 0, 1, 2, 0}));
}

TEST(NearestOrder, IsByLoadWhereNothingIsKnown) {
  Assignment assignment(nearest_config(PolicyKind::Plb, 5));
  EXPECT_EQ(picks(assignment, {}, 4), (std::vector<std::uint32_t>{0, 1, 2, 0}));
}

TEST(NearestOrder, PrefersAKnownReplicaToAnUnknownOne) {
  Assignment assignment(nearest_config(PolicyKind::Plb, 1));
  EXPECT_EQ(picks(assignment, {0us, 5ms}, 3), (std::vector<std::uint32_t>{1, 1, 0}));
}

TEST(NearestOrder, IsNotOfOtherPolicies) {
  Assignment assignment(nearest_config(PolicyKind::RoundRobin, 5));
  EXPECT_EQ(picks(assignment, {300us, 100us, 200us}, 4), (std::vector<std::uint32_t>{0, 1, 2, 0}));
}

TEST(NearestOrder, CanBeReloaded) {
  PoolConfig config = nearest_config(PolicyKind::Plb, 9);
  Assignment assignment(config);
  EXPECT_EQ(picks(assignment, {300us, 100us, 200us}, 2), (std::vector<std::uint32_t>{1, 1}));
  config.order = ReplicaOrder::LeastLoaded;
  assignment.reconfigure(config);
  EXPECT_EQ(picks(assignment, {300us, 100us, 200us}, 2), (std::vector<std::uint32_t>{0, 2}));
}

TEST(NearestOrder, HasNamesAndABound) {
  EXPECT_EQ(parse_order(order_name(ReplicaOrder::Nearest)), ReplicaOrder::Nearest);
  EXPECT_EQ(parse_order("least_loaded"), ReplicaOrder::LeastLoaded);
  EXPECT_EQ(parse_order("closest"), std::nullopt);
  PoolConfig config = nearest_config(PolicyKind::Plb, -1);
  EXPECT_EQ(problem_of(config), "nearest_slack -1 is not in 0..1000000000");
}

// The same state, decided in the default order.
Decision in_default_order(const Assignment& from, PoolConfig config, const Arrival& arrival,
                          std::vector<RoleChange>& changes) {
  config.order = ReplicaOrder::LeastLoaded;
  Assignment twin(config);
  const Pools& pools = from.pools();
  for (const ReplicaId r : pools.replicas()) {
    std::vector<std::int64_t> loads;
    for (const ClassId c : pools.classes())
      loads.push_back(pools.load(r, c));
    twin.preset(r, pools.pool(r), pools.borrowed(r), loads);
    twin.set_up(r, pools.up(r));
  }
  const Decision d = twin.admit(arrival);
  changes.assign(d.changes.begin(), d.changes.end());
  return d;
}

std::int64_t load_before(const Pools& after, ReplicaId r, ClassId c, ReplicaId chosen) {
  return (after.borrowed(r) ? after.total_load(r) : after.load(r, c)) - (r == chosen ? 1 : 0);
}

void check_choice(const Pools& after, const Decision& d, const Arrival& arrival, const PoolConfig& config) {
  const ClassId c = arrival.session_class;
  using Key = std::tuple<std::chrono::nanoseconds, std::int64_t, std::size_t>;
  std::int64_t least = INT64_MAX;
  std::vector<std::pair<Key, ReplicaId>> candidates;
  std::size_t place = 0;
  for (const ReplicaId r : after.replicas()) {
    ++place;
    if (!(after.pool(r) == PoolId(c)) || !after.live(r)) continue;
    const std::int64_t of_class = after.load(r, c) - (r == d.replica ? 1 : 0);
    if (d.outcome == Outcome::Own && of_class >= after.params(c).saturation) continue;
    const std::int64_t load = load_before(after, r, c, d.replica);
    least = std::min(least, load);
    candidates.push_back({{arrival.round_trips[r.value()], load, place}, r});
  }
  std::erase_if(candidates,
                [&](const auto& x) { return std::get<1>(x.first) > least + config.nearest_slack; });
  ASSERT_FALSE(candidates.empty());
  EXPECT_EQ(std::min_element(candidates.begin(), candidates.end())->second, d.replica);
}

TEST(NearestProperty, ChangesNeitherOutcomeNorRolesAndKeepsToTheSlack) {
  for (const auto seed : seeds(100)) {
    SCOPED_TRACE("SLUICE_SEED=" + std::to_string(seed));
    Rng rng(seed);
    PoolConfig config = random_config(1 + seed % 3, 1 + seed % 9, rng);
    config.policy = PolicyKind::Plb;
    config.order = ReplicaOrder::Nearest;
    config.nearest_slack = static_cast<std::int64_t>(rng.below(4));
    Assignment assignment(config);
    RoundTrips round_trips;
    for (std::size_t i = 0; i < config.replicas.size(); ++i)
      round_trips.emplace_back(1 + rng.below(3));
    std::vector<std::pair<ReplicaId, ClassId>> open;
    for (int step = 0; step < 200; ++step) {
      SCOPED_TRACE("step " + std::to_string(step));
      const ReplicaId touched(static_cast<std::uint32_t>(rng.below(config.replicas.size())));
      if (rng.below(10) == 0) assignment.set_up(touched, !assignment.pools().up(touched));
      if (!open.empty() && rng.below(3) == 0) {
        const auto leaving = open.begin() + static_cast<std::ptrdiff_t>(rng.below(open.size()));
        assignment.close(leaving->first, leaving->second);
        open.erase(leaving);
        continue;
      }
      const Arrival arrival{ClassId(static_cast<std::uint32_t>(rng.below(config.classes.size()))), "a",
                            std::nullopt, round_trips};
      std::vector<RoleChange> expected;
      const Decision other = in_default_order(assignment, config, arrival, expected);
      const Decision d = assignment.admit(arrival);
      ASSERT_EQ(d.outcome, other.outcome);
      ASSERT_TRUE(std::equal(d.changes.begin(), d.changes.end(), expected.begin(), expected.end()));
      if (d.outcome == Outcome::Refused) continue;
      if (d.outcome == Outcome::Own || d.outcome == Outcome::Fallback)
        check_choice(assignment.pools(), d, arrival, config);
      else
        ASSERT_EQ(d.replica, other.replica) << "borrowing stays as the loads say";
      if (testing::Test::HasFailure()) return;
      open.emplace_back(d.replica, d.counted_in);
    }
  }
}

}  // namespace
}  // namespace sluice::policy
