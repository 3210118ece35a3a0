#include <map>

#include <gtest/gtest.h>

#include "sluice/policy/assignment.h"

#include "tests/policy/two_classes.h"

namespace sluice::policy {
namespace {

PoolConfig five_replicas(PolicyKind policy) {
  PoolConfig config;
  config.policy = policy;
  config.classes = {{"premium", 10, *Ratio::parse("0.60"), 0, 2},
                    {"freemium", 10, *Ratio::parse("0.80"), 1, 2}};
  for (const char* name : {"r0", "r1", "r2", "r3", "r4"})
    config.replicas.push_back({name, std::nullopt});
  return config;
}

std::uint32_t chosen(Assignment& a, ClassId c, ReplicaSet excluded = {}) {
  const Decision decision = admit(a, c, excluded);
  EXPECT_EQ(decision.outcome, Outcome::Own);
  EXPECT_TRUE(decision.changes.empty());
  return decision.replica.value();
}

TEST(RoundRobin, GoesRoundWithOneCursorForAllClasses) {
  Assignment a(five_replicas(PolicyKind::RoundRobin));
  for (std::uint32_t i = 0; i < 12; ++i)
    EXPECT_EQ(chosen(a, i % 3 == 0 ? kPremium : kFreemium), i % 5);
}

TEST(RoundRobin, PassesOverWhatIsNotLiveOrExcluded) {
  Assignment a(five_replicas(PolicyKind::RoundRobin));
  a.set_up(ReplicaId(1), false);
  a.set_draining(ReplicaId(3), true);
  EXPECT_EQ(chosen(a, kPremium), 0u);
  EXPECT_EQ(chosen(a, kPremium), 2u);
  EXPECT_EQ(chosen(a, kPremium), 4u);
  a.set_up(ReplicaId(1), true);
  const ReplicaId failed[] = {ReplicaId(0)};
  EXPECT_EQ(chosen(a, kPremium, failed), 1u);
}

TEST(LeastLoaded, CountsSessionsOfAllClassesAndTakesTheEarlierOnATie) {
  Assignment a(five_replicas(PolicyKind::LeastLoaded));
  a.preset(ReplicaId(0), kPremium, false, std::array<std::int64_t, 2>{0, 3});
  a.preset(ReplicaId(1), kPremium, false, std::array<std::int64_t, 2>{1, 1});
  for (const std::uint32_t expected : {2u, 3u, 4u, 2u, 3u, 4u, 1u})
    EXPECT_EQ(chosen(a, kPremium), expected);
}

TEST(Dedicated, GoesRoundEachClassesOwnPoolAndLeavesMixedUnused) {
  Assignment a(five_replicas(PolicyKind::Dedicated));
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(chosen(a, kPremium), i % 2 == 0 ? 0u : 1u);
    EXPECT_EQ(chosen(a, kFreemium), i % 2 == 0 ? 2u : 3u);
  }
}

TEST(Dedicated, UsesAnyLiveReplicaWhenItsPartIsDown) {
  Assignment a(five_replicas(PolicyKind::Dedicated));
  a.set_up(ReplicaId(0), false);
  EXPECT_EQ(chosen(a, kPremium), 1u);
  a.set_draining(ReplicaId(1), true);
  admit(a, kFreemium);
  const Decision decision = admit(a, kPremium);
  EXPECT_EQ(decision.replica.value(), 3u);
  EXPECT_EQ(decision.outcome, Outcome::FallbackAny);
}

TEST(RandomTwoChoices, IsTheSameForTheSameSeedAndTakesTheLessLoaded) {
  Assignment one(five_replicas(PolicyKind::RandomTwoChoices)),
      two(five_replicas(PolicyKind::RandomTwoChoices));
  one.preset(ReplicaId(0), kPremium, false, std::array<std::int64_t, 2>{1000, 0});
  two.preset(ReplicaId(0), kPremium, false, std::array<std::int64_t, 2>{1000, 0});
  std::map<std::uint32_t, int> seen;
  for (int i = 0; i < 400; ++i) {
    const std::uint32_t r = chosen(one, kPremium);
    EXPECT_EQ(chosen(two, kPremium), r);
    ++seen[r];
  }
  EXPECT_FALSE(seen.contains(0));  // always with a less loaded one beside it
  for (std::uint32_t r = 1; r < 5; ++r)
    EXPECT_NEAR(seen[r], 100, 10) << r;  // two choices keep loads within a few of each other
}

TEST(RandomTwoChoices, TakesTheOnlyCandidate) {
  Assignment a(five_replicas(PolicyKind::RandomTwoChoices));
  for (std::uint32_t r = 0; r < 4; ++r)
    a.set_up(ReplicaId(r), false);
  EXPECT_EQ(chosen(a, kPremium), 4u);
}

TEST(EveryPolicy, RefusesWithoutALiveReplicaAndCountsNothing) {
  for (const auto kind : {PolicyKind::Plb, PolicyKind::RoundRobin, PolicyKind::LeastLoaded,
                          PolicyKind::Dedicated, PolicyKind::RandomTwoChoices, PolicyKind::Proportional}) {
    Assignment a(five_replicas(kind));
    for (std::uint32_t r = 0; r < 5; ++r)
      a.set_up(ReplicaId(r), false);
    EXPECT_EQ(admit(a, kPremium).outcome, Outcome::Refused) << policy_name(kind);
    EXPECT_EQ(a.snapshot().classes[0].sessions, 0) << policy_name(kind);
    a.set_up(ReplicaId(3), true);
    EXPECT_EQ(admit(a, kPremium).replica.value(), 3u) << policy_name(kind);
    const ReplicaId failed[] = {ReplicaId(3)};
    EXPECT_EQ(admit(a, kPremium, failed).outcome, Outcome::Refused) << policy_name(kind);
  }
}

}  // namespace
}  // namespace sluice::policy
