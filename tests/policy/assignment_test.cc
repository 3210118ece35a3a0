#include "sluice/policy/assignment.h"

#include <gtest/gtest.h>

#include "tests/policy/two_classes.h"

namespace sluice::policy {
namespace {

PoolConfig small(std::int64_t saturation, std::size_t replica_count) {
  PoolConfig config;
  config.classes = {{"premium", saturation, *Ratio::parse("1"), 0, 1},
                    {"freemium", saturation, *Ratio::parse("1"), 1, 1}};
  for (std::size_t i = 0; i < replica_count; ++i)
    config.replicas.push_back({"r" + std::to_string(i), std::nullopt});
  return config;
}

TEST(Assignment, StartsWithEachClasssTargetInOrderAndTheRestMixed) {
  const Snapshot s = Assignment(small(1, 4)).snapshot();
  EXPECT_EQ(s.replicas[0].pool_name, "premium");
  EXPECT_EQ(s.replicas[1].pool_name, "freemium");
  EXPECT_EQ(s.replicas[2].pool_name, "mixed");
  EXPECT_EQ(s.replicas[3].pool_name, "mixed");
  EXPECT_EQ(s.classes[0].live_replicas, 1);
  EXPECT_EQ(s.live_mixed, 2);
}

TEST(Assignment, TakesAPoolGivenForAReplicaOverItsShareByTargets) {
  PoolConfig config = small(1, 4);
  config.replicas[0].pool = "mixed";
  config.replicas[3].pool = "premium";
  const Snapshot s = Assignment(config).snapshot();
  EXPECT_EQ(s.replicas[0].pool_name, "mixed");
  EXPECT_EQ(s.replicas[1].pool_name, "freemium");
  EXPECT_EQ(s.replicas[2].pool_name, "mixed");
  EXPECT_EQ(s.replicas[3].pool_name, "premium");
}

TEST(Assignment, TellsHowItDecidedAndCountsIt) {
  Assignment a(small(1, 4));
  admit(a, kPremium);
  const Decision borrowed = admit(a, kPremium);
  EXPECT_EQ(borrowed.outcome, Outcome::BorrowedMixed);
  EXPECT_EQ(borrowed.evidence.pool_size, 1u);
  EXPECT_EQ(borrowed.evidence.with_headroom, 0u);
  ASSERT_EQ(borrowed.changes.size(), 1u);
  EXPECT_EQ(borrowed.changes[0], (RoleChange{ReplicaId(2), PoolId::mixed(), kPremium, ChangeKind::Borrow}));
  a.close(ReplicaId(2), kPremium);
  a.close(ReplicaId(0), kPremium);
  EXPECT_EQ(admit(a, kFreemium).changes.size(), 1u);  // the return
  const Snapshot s = a.snapshot();
  EXPECT_EQ(s.borrowings, 1u);
  EXPECT_EQ(s.returns, 1u);
  EXPECT_EQ(s.classes[0].decisions[static_cast<std::size_t>(Outcome::BorrowedMixed)], 1u);
  EXPECT_EQ(s.classes[0].decisions[static_cast<std::size_t>(Outcome::Own)], 1u);
  EXPECT_EQ(s.classes[0].sessions, 0);
  EXPECT_EQ(s.classes[1].sessions, 1);
}

TEST(Assignment, KeepsTheRoleWhenABorrowedReplicaCannotBeReached) {
  Assignment a(small(1, 4));
  admit(a, kPremium);
  const Decision first = admit(a, kPremium);
  const ReplicaId failed = first.replica;
  a.close(failed, first.counted_in);
  const Decision second = admit(a, kPremium, std::array{failed});
  EXPECT_EQ(second.replica, ReplicaId(3));
  EXPECT_EQ(second.outcome, Outcome::BorrowedMixed);
  EXPECT_EQ(a.pools().pool(failed), PoolId(kPremium));
  EXPECT_EQ(admit(a, kPremium).replica, failed);  // the exclusion was that session's alone
}

TEST(Assignment, GivesAClassWithoutLiveReplicasAnyOtherMixedFirst) {
  Assignment a(small(5, 3));
  a.set_up(ReplicaId(0), false);
  EXPECT_EQ(admit(a, kPremium).outcome, Outcome::BorrowedMixed);
  a.set_up(ReplicaId(2), false);
  const Decision last = admit(a, kPremium);  // freemium keeps its floor of one, so no role changes
  EXPECT_EQ(last.outcome, Outcome::FallbackAny);
  EXPECT_EQ(last.replica, ReplicaId(1));
  EXPECT_TRUE(last.changes.empty());
}

TEST(Assignment, ReturnsManyReplicasInOneAdmission) {
  Assignment a(small(1, 12));
  for (int i = 0; i < 11; ++i)
    admit(a, kPremium);
  for (std::uint32_t r = 0; r < 12; ++r)
    if (r != 1) a.close(ReplicaId(r), kPremium);
  const Decision decision = admit(a, kFreemium);
  EXPECT_EQ(decision.changes.size(), 10u);
  for (const RoleChange& x : decision.changes)
    EXPECT_EQ(x.kind, ChangeKind::Return);
}

TEST(AssignmentDeathTest, EndsTheProgramWhenASessionIsClosedTwice) {
  Assignment a(small(1, 2));
  const Decision d = admit(a, kPremium);
  a.close(d.replica, d.counted_in);
  EXPECT_DEATH(a.close(d.replica, d.counted_in), "internal error");
}

}  // namespace
}  // namespace sluice::policy
