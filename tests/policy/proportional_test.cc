#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sluice/policy/assignment.h"

#include "tests/policy/history.h"

namespace sluice::policy {
namespace {

PoolConfig proportional(const std::vector<const char*>& weights, std::size_t replicas) {
  PoolConfig config;
  config.policy = PolicyKind::Proportional;
  for (const char* weight : weights) {
    ClassParams& c = config.classes.emplace_back();
    c.name = "c" + std::to_string(config.classes.size() - 1);
    c.weight = *Weight::parse(weight);
  }
  for (std::size_t i = 0; i < replicas; ++i)
    config.replicas.push_back({"r" + std::to_string(i), std::nullopt});
  return config;
}

ReplicaId replica(std::uint32_t index) {
  return ReplicaId(index);
}

// Sessions of each class on each replica.
void preset(Assignment& a, const std::vector<std::vector<std::int64_t>>& loads) {
  for (std::uint32_t r = 0; r < loads.size(); ++r)
    a.preset(replica(r), PoolId::mixed(), false, loads[r]);
}

Decision admit(Assignment& a, std::uint32_t c, ReplicaSet excluded = {}) {
  return a.admit({ClassId(c), "", std::nullopt}, excluded);
}

std::uint32_t chosen(Assignment& a, std::uint32_t c) {
  const Decision decision = admit(a, c);
  EXPECT_EQ(decision.outcome, Outcome::Own);
  EXPECT_TRUE(decision.changes.empty());
  return decision.replica.value();
}

TEST(Proportional, AClassAloneGoesRoundAllReplicasFromTheFirst) {
  Assignment a(proportional({"2", "1"}, 3));
  for (std::uint32_t i = 0; i < 9; ++i)
    EXPECT_EQ(chosen(a, 1), i % 3);
}

// w n: 2 x 4 of 12 and 1 x 4 of 12, so that two of three replicas are the first class's and one the second's.
TEST(Proportional, SharesOutWholeReplicasWhereTheNumbersDo) {
  Assignment a(proportional({"2", "1"}, 3));
  preset(a, {{2, 0}, {1, 0}, {0, 4}});
  EXPECT_EQ(chosen(a, 0), 1u);  // the fourth of its class: [0, 2), loads 2 and 1
  EXPECT_EQ(chosen(a, 1), 2u);  // 8 and 5 of 13: [1.85, 3), of which replica 1 has 0.15 and replica 2 all
}

// 3 x 2 of 7: on two replicas the first class has [0, 12/7).
TEST(Proportional, ABoundaryReplicaCountsForItsPart) {
  Assignment a(proportional({"3", "1"}, 2));
  preset(a, {{1, 0}, {0, 1}});
  EXPECT_EQ(chosen(a, 0), 1u);  // (1 + 1) / 1 against (0 + 1) / (5/7)
  EXPECT_EQ(chosen(a, 0), 0u);  // three of them: [0, 1.8): 2 / 1 against 2 / 0.8
  EXPECT_EQ(chosen(a, 1), 1u);  // nothing of replica 0 is the second class's
}

// [0, 1.6) and [1.6, 2): of the fourth session's two replicas one has 3 / 1 and the other 2 / 0.6.
TEST(Proportional, GivesABoundaryReplicaFewerSessionsThanItsNeighbour) {
  Assignment a(proportional({"1", "1"}, 2));
  preset(a, {{2, 0}, {1, 1}});
  EXPECT_EQ(chosen(a, 0), 0u);
}

TEST(Proportional, TiesGoToTheEarlier) {
  Assignment a(proportional({"1", "1"}, 4));
  preset(a, {{1, 0}, {1, 0}, {0, 1}, {0, 2}});  // with the newcomer 3 and 3: [0, 2) and [2, 4)
  EXPECT_EQ(chosen(a, 0), 0u);
  // 1/3 of a replica and 2/3 of it with one and two sessions are alike, however the thirds are rounded.
  Assignment thirds(proportional({"1", "1", "1"}, 2));
  preset(thirds, {{1, 0, 0}, {0, 0, 1}});
  EXPECT_EQ(chosen(thirds, 1), 0u);  // [2/3, 4/3): 1/3 of both, both empty of its class
}

TEST(Proportional, LaysOutLiveReplicasAlone) {
  Assignment a(proportional({"1", "1"}, 4));
  a.set_up(replica(0), false);
  a.set_draining(replica(2), true);
  preset(a, {{0, 0}, {0, 0}, {0, 0}, {0, 1}});
  EXPECT_EQ(chosen(a, 0), 1u);  // K = 2: [0, 1) is replica 1
  EXPECT_EQ(chosen(a, 1), 3u);
  // Sessions on what is not live still speak for their class.
  preset(a, {{0, 20}, {1, 0}, {0, 0}, {0, 2}});
  EXPECT_EQ(chosen(a, 1), 1u);  // 23 of 24 of two replicas: 1 / (22/24) against 3 / 1
}

TEST(Proportional, ALiveReplicaThatFailedKeepsItsPlace) {
  Assignment a(proportional({"1", "1"}, 2));
  preset(a, {{0, 0}, {0, 1}});
  const ReplicaId failed[] = {replica(0)};
  const Decision decision = admit(a, 0, failed);  // its stretch is replica 0 alone
  EXPECT_EQ(decision.outcome, Outcome::FallbackAny);
  EXPECT_EQ(decision.replica, replica(1));
  const ReplicaId both[] = {replica(0), replica(1)};
  EXPECT_EQ(admit(a, 0, both).outcome, Outcome::Refused);
}

TEST(Proportional, WaitsForItsStretchWhereThatIsFull) {
  PoolConfig config = proportional({"1", "1"}, 2);
  config.replicas[0].max_active = 1;
  Assignment a(config);
  preset(a, {{1, 0}, {0, 2}});
  const Decision decision = admit(a, 0);  // 2 and 2: [0, 1) has no slot, and replica 1 is another's
  EXPECT_EQ(decision.outcome, Outcome::Refused);
  EXPECT_TRUE(decision.waits);
  a.close(replica(0), ClassId(0));
  EXPECT_EQ(chosen(a, 0), 0u);
}

// A replica of weight 3 is three times as long and takes three times the sessions.
TEST(Proportional, LongerReplicasTakeMore) {
  PoolConfig config = proportional({"1"}, 2);
  config.replicas[0].weight = 3;
  Assignment a(config);
  std::array<int, 2> counts{};
  for (int i = 0; i < 40; ++i)
    ++counts[chosen(a, 0)];
  EXPECT_EQ(counts, (std::array<int, 2>{30, 10}));
}

TEST(Proportional, AWeightMayBeChangedAndAReloadBringsItsOwn) {
  PoolConfig config = proportional({"1", "1"}, 2);
  Assignment a(config);
  preset(a, {{1, 0}, {0, 2}});
  a.set_class_weight(ClassId(0), *Weight::parse("4"));
  EXPECT_EQ(chosen(a, 0), 1u);  // 8 of 10 of two replicas: 2 / 1 against 1 / 0.6
  preset(a, {{1, 0}, {0, 2}});
  a.reconfigure(config);
  EXPECT_EQ(chosen(a, 0), 0u);
}

// Under steady arrivals each class ends with sessions in proportion to 1 / w on a replica's worth of its
// stretch.
TEST(Proportional, TheClassWithWeightTwoHasHalfTheCompany) {
  Assignment a(proportional({"2", "1"}, 10));
  Rng rng(5);
  std::vector<std::pair<ReplicaId, ClassId>> open;
  for (int i = 0; i < 20'000; ++i) {
    if (open.size() >= 400) {
      const auto leaves = open.begin() + static_cast<std::ptrdiff_t>(rng.below(open.size()));
      a.close(leaves->first, leaves->second);
      open.erase(leaves);
    }
    const Decision d = admit(a, rng.below(2) == 0 ? 0 : 1);
    open.emplace_back(d.replica, d.counted_in);
  }
  // About 200 of each: 2/3 of ten replicas for the first, 30 sessions on each, 60 on each of the second's.
  EXPECT_NEAR(static_cast<double>(a.pools().total_load(replica(0))), 30, 6);
  EXPECT_NEAR(static_cast<double>(a.pools().total_load(replica(9))), 60, 12);
}

TEST(Proportional, KeepsExactAtTheEndsOfItsRange) {
  PoolConfig config = proportional({"1000", "0.001"}, 3);
  for (ReplicaConfig& r : config.replicas)
    r.weight = kWeightMax;
  Assignment a(config);
  preset(a, {{kParameterMax, kParameterMax}, {kParameterMax, 0}, {kParameterMax - 3'000, kParameterMax}});
  EXPECT_EQ(chosen(a, 0), 2u);  // it has 999.998 of 1000 for the first class, but fewer sessions
  EXPECT_EQ(chosen(a, 1), 2u);  // the last millionth of the last replica is all it has
}

// The rule by counting: a line of sum(w n) cells for each unit of weight, and each cell has one owner.
struct CellOracle {
  const PoolConfig& config;
  std::vector<std::vector<std::int64_t>> loads;  // replica, class
  std::vector<bool> live, excluded;

  std::optional<std::size_t> choose(std::size_t arrived) const {
    std::vector<std::int64_t> weighed(config.classes.size());
    std::int64_t all = 0, length = 0;
    for (std::size_t c = 0; c < weighed.size(); ++c) {
      std::int64_t n = c == arrived ? 1 : 0;
      for (const auto& row : loads)
        n += row[c];
      weighed[c] = n * config.classes[c].weight.thousandths() / 500;  // all weights here are halves
      all += weighed[c];
    }
    for (std::size_t r = 0; r < live.size(); ++r)
      length += live[r] ? config.replicas[r].weight : 0;
    std::vector<std::size_t> owner;  // of each cell; class by class
    for (std::size_t c = 0; c < weighed.size(); ++c)
      owner.insert(owner.end(), static_cast<std::size_t>(weighed[c] * length), c);
    std::optional<std::size_t> best;
    std::int64_t best_sessions = 0, best_share = 1;
    std::size_t cell = 0;
    for (std::size_t r = 0; r < live.size(); ++r) {
      if (!live[r]) continue;
      const std::size_t end = cell + static_cast<std::size_t>(config.replicas[r].weight * all);
      const auto at = [&](std::size_t i) { return owner.begin() + static_cast<std::ptrdiff_t>(i); };
      const std::int64_t share = std::count(at(cell), at(end), arrived);
      cell = end;
      const std::int64_t sessions = loads[r][arrived] + 1;
      if (share == 0 || excluded[r] || (best && sessions * best_share >= best_sessions * share)) continue;
      best = r;
      best_sessions = sessions;
      best_share = share;
    }
    return best;
  }
};

void play(std::uint64_t seed) {
  Rng rng(seed);
  const std::size_t classes = 1 + seed % 4, replicas = 1 + rng.below(8);
  std::vector<const char*> weights;
  for (std::size_t c = 0; c < classes; ++c)
    weights.push_back(std::array{"0.5", "1", "1.5", "2", "4"}[rng.below(5)]);
  PoolConfig config = proportional(weights, replicas);
  for (ReplicaConfig& r : config.replicas)
    r.weight = rng.below(4) == 0 ? 2 : 1;
  Assignment a(config);
  CellOracle oracle{config, {}, std::vector<bool>(replicas, true), std::vector<bool>(replicas, false)};
  oracle.loads.assign(replicas, std::vector<std::int64_t>(classes, 0));
  std::vector<std::pair<ReplicaId, ClassId>> open;
  for (int step = 0; step < 150; ++step) {
    SCOPED_TRACE("step " + std::to_string(step));
    const auto touched = static_cast<std::uint32_t>(rng.below(replicas));
    if (rng.below(10) == 0) {
      oracle.live[touched] = !oracle.live[touched];
      a.set_up(replica(touched), oracle.live[touched]);
      continue;
    }
    if (!open.empty() && rng.below(5) < 2) {
      const auto leaving = open.begin() + static_cast<std::ptrdiff_t>(rng.below(open.size()));
      a.close(leaving->first, leaving->second);
      --oracle.loads[leaving->first.value()][leaving->second.value()];
      open.erase(leaving);
      continue;
    }
    oracle.excluded.assign(replicas, false);
    std::vector<ReplicaId> excluded;
    if (rng.below(5) == 0) {
      oracle.excluded[touched] = true;
      excluded.push_back(replica(touched));
    }
    const auto c = static_cast<std::uint32_t>(rng.below(classes));
    const std::optional<std::size_t> expected = oracle.choose(c);
    const Decision d = admit(a, c, excluded);
    ASSERT_EQ(d.outcome == Outcome::Own, expected.has_value());
    if (expected) {
      ASSERT_EQ(d.replica.value(), *expected);
    }
    if (d.outcome == Outcome::Refused) continue;
    ++oracle.loads[d.replica.value()][c];
    open.emplace_back(d.replica, d.counted_in);
  }
}

TEST(ProportionalProperty, AgreesWithCountingCellsWhileReplicasFailAndSessionsRetry) {
  for (const auto seed : seeds(150)) {
    SCOPED_TRACE("SLUICE_SEED=" + std::to_string(seed));
    play(seed);
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(Weight, IsAnExactDecimal) {
  for (const char* text : {"2", "1.5", "0.125", "0.001", "1000"})
    EXPECT_EQ(Weight::parse(text)->to_string(), text);
  EXPECT_EQ(Weight::parse("1.50")->to_string(), "1.5");
  EXPECT_EQ(Weight::parse(".25")->thousandths(), 250);
  for (const char* text :
       {"", ".", "0", "0.000", "1000.001", "1001", "-1", "+1", "1e3", "1.", " 1", "0.0001", "9999999999"})
    EXPECT_FALSE(Weight::parse(text)) << text;
  EXPECT_EQ(Weight::nearest(1.49996).to_string(), "1.5");
  EXPECT_EQ(Weight::nearest(0).to_string(), "0.001");
  EXPECT_EQ(Weight::nearest(1e9).to_string(), "1000");
}

}  // namespace
}  // namespace sluice::policy
