// Replicas that take intervals of sizes: ReplicaOrder::SitaE and SitaV.

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "sluice/policy/admission_queue.h"
#include "sluice/policy/assignment.h"

#include "tests/policy/two_classes.h"

namespace sluice::policy {
namespace {

using namespace std::chrono_literals;

PoolConfig by_size(PolicyKind policy, std::int64_t max_active = 0) {
  PoolConfig config;
  config.policy = policy;
  config.order = ReplicaOrder::SitaE;
  config.classes = {{"premium", 4, *Ratio::parse("0.5"), 0, 2}, {"freemium", 4, *Ratio::parse("0.5"), 1, 2}};
  config.replicas = {
      {"a", {}, 1, max_active}, {"b", {}, 1, max_active}, {"c", {}, 1, max_active}, {"d", {}, 1, max_active}};
  return config;
}

// Ten of 0.01 s for each of 0.1 s: half of the work each.
void teach(Assignment& assignment, ClassId c = kPremium) {
  for (int i = 0; i < 1100; ++i)
    assignment.arrived({c, "", i % 11 == 0 ? 0.1 : 0.01});
}

std::string admitted(Assignment& assignment, ClassId c, std::optional<double> size) {
  const Decision decision = assignment.admit({c, "", size});
  return decision.outcome == Outcome::Refused ? "" : assignment.pools().name(decision.replica);
}

void close(Assignment& assignment, const std::string& name, ClassId c) {
  assignment.close(*assignment.find_replica(name), c);
}

TEST(SizeOrder, IsByLoadWhileTooLittleIsKnown) {
  Assignment assignment(by_size(PolicyKind::Plb));
  for (const char* expected : {"a", "b", "a", "b"}) {
    const Decision decision = assignment.admit({kPremium, "", 0.01});
    EXPECT_EQ(assignment.pools().name(decision.replica), expected);
    EXPECT_FALSE(decision.by_size);
  }
  const auto pools = assignment.size_pools();
  ASSERT_EQ(pools.size(), 2U);
  EXPECT_FALSE(pools[0].known);
  EXPECT_EQ(pools[0].sizes, 4U);
  EXPECT_TRUE(pools[0].intervals.empty());
}

TEST(SizeOrder, GivesEachSizeItsReplicaWithinThePool) {
  Assignment assignment(by_size(PolicyKind::Plb));
  teach(assignment);
  for (int i = 0; i < 3; ++i) {
    const Decision decision = assignment.admit({kPremium, "", 0.01});
    EXPECT_EQ(assignment.pools().name(decision.replica), "a");
    EXPECT_TRUE(decision.by_size);
    EXPECT_EQ(decision.outcome, Outcome::Own);
  }
  EXPECT_EQ(admitted(assignment, kPremium, 0.1), "b");
  EXPECT_EQ(admitted(assignment, kPremium, std::nullopt), "b") << "unknown: the less loaded";
  EXPECT_EQ(admitted(assignment, kFreemium, 0.1), "c") << "the other class is not known yet";
  const auto pools = assignment.size_pools();
  ASSERT_EQ(pools[0].intervals.size(), 2U);
  EXPECT_EQ(pools[0].pool, kPremium);
  EXPECT_NEAR(pools[0].intervals[0].interval.work_share, 0.5, 0.01);
  EXPECT_NEAR(pools[0].intervals[0].interval.job_share, 10.0 / 11, 0.01);
}

TEST(SizeOrder, DividesAllReplicasUnderLeastLoaded) {
  Assignment assignment(by_size(PolicyKind::LeastLoaded));
  teach(assignment, kFreemium);
  std::vector<std::string> small, large;
  for (int i = 0; i < 4; ++i) {
    small.push_back(admitted(assignment, kPremium, 0.01));
    large.push_back(admitted(assignment, kPremium, 0.1));
  }
  EXPECT_EQ(small, (std::vector<std::string>{"a", "b", "a", "b"}));
  EXPECT_EQ(large, (std::vector<std::string>{"c", "d", "c", "d"}));
  ASSERT_EQ(assignment.size_pools().size(), 1U);
  EXPECT_FALSE(assignment.size_pools()[0].pool);
}

TEST(SizeOrder, FollowsReplicasThatLeaveJoinAndAreBorrowed) {
  Assignment assignment(by_size(PolicyKind::Plb));
  teach(assignment);
  assignment.set_up(*assignment.find_replica("b"), false);
  EXPECT_EQ(admitted(assignment, kPremium, 0.1), "a") << "one is left for all sizes";
  assignment.set_up(*assignment.find_replica("b"), true);
  EXPECT_EQ(admitted(assignment, kPremium, 0.1), "b");
  const std::vector<std::int64_t> loads = {1, 0};
  assignment.preset(*assignment.find_replica("c"), kPremium, true, loads);
  EXPECT_EQ(admitted(assignment, kPremium, 0.1), "b");
  EXPECT_EQ(admitted(assignment, kPremium, 0.1), "c") << "half of the work is two thirds of three replicas'";
  EXPECT_EQ(admitted(assignment, kPremium, 0.01), "a");
}

TEST(SizeOrder, LeavesASaturatedReplicaForTheNext) {
  Assignment assignment(by_size(PolicyKind::Plb));
  teach(assignment);
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(admitted(assignment, kPremium, 0.1), "b");
  EXPECT_EQ(admitted(assignment, kPremium, 0.1), "a")
      << "b has its four, a has headroom: nothing is borrowed";
}

TEST(SizeOrder, WaitsForTheSlotOfItsReplica) {
  Assignment assignment(by_size(PolicyKind::Plb, 1));
  teach(assignment);
  EXPECT_EQ(admitted(assignment, kPremium, 0.01), "a");
  const Decision decision = assignment.admit({kPremium, "", 0.01});
  EXPECT_EQ(decision.outcome, Outcome::Refused);
  EXPECT_TRUE(decision.waits) << "b is free, but not for this size";
  EXPECT_TRUE(decision.changes.empty());
  EXPECT_EQ(admitted(assignment, kPremium, 0.1), "b");
  close(assignment, "a", kPremium);
  EXPECT_EQ(admitted(assignment, kPremium, 0.01), "a");
}

TEST(SizeOrder, LetsWaitersOfOtherSizesPass) {
  Assignment assignment(by_size(PolicyKind::LeastLoaded, 1));
  teach(assignment);
  AdmissionQueue queue(assignment);
  std::vector<std::unique_ptr<QueueEntry>> entries;
  Decision decision;
  const auto ask = [&](double size) {
    entries.push_back(std::make_unique<QueueEntry>());
    return queue.ask(*entries.back(), {kPremium, "", size}, {}, {}, 1s, AdmissionQueue::Wait::Yes, decision);
  };
  EXPECT_EQ(ask(0.01), AdmissionQueue::Answer::Granted);
  EXPECT_EQ(ask(0.01), AdmissionQueue::Answer::Granted);
  EXPECT_EQ(ask(0.01), AdmissionQueue::Answer::Queued);
  EXPECT_EQ(ask(0.1), AdmissionQueue::Answer::Granted);
  EXPECT_EQ(ask(0.1), AdmissionQueue::Answer::Granted);
  EXPECT_EQ(ask(0.1), AdmissionQueue::Answer::Queued);
  EXPECT_EQ(ask(0.012), AdmissionQueue::Answer::Queued);
  close(assignment, "c", kPremium);
  EXPECT_EQ(queue.next(2s, decision), entries[5].get());
  close(assignment, "b", kPremium);
  EXPECT_EQ(queue.next(2s, decision), entries[2].get());
  EXPECT_EQ(queue.next(2s, decision), nullptr);
  queue.withdraw(*entries[6]);
}

TEST(SizeOrder, CountsARequestOnceHoweverOftenItAsks) {
  Assignment assignment(by_size(PolicyKind::LeastLoaded, 1));
  AdmissionQueue queue(assignment);
  Decision decision;
  const auto ask = [&](std::optional<QueuePlace> place, ReplicaSet failed = {}) {
    QueueEntry entry;
    if (place) entry.keep_place(*place);
    const auto answer =
        queue.ask(entry, {kPremium, "", 0.01}, {}, failed, 1s, AdmissionQueue::Wait::No, decision);
    return std::pair(answer, entry.place());
  };
  const auto seen = [&] { return assignment.size_pools()[0].sizes; };
  for (const char* name : {"a", "b", "c", "d"})
    assignment.set_up(*assignment.find_replica(name), false);
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(ask({}).first, AdmissionQueue::Answer::NoReplica);
  EXPECT_EQ(seen(), 0U) << "none of these has arrived anywhere";
  const ReplicaId a = *assignment.find_replica("a");
  assignment.set_up(a, true);
  const auto [answer, place] = ask({});
  EXPECT_EQ(answer, AdmissionQueue::Answer::Granted);
  EXPECT_EQ(seen(), 1U);
  assignment.close(a, kPremium);
  const std::vector<ReplicaId> failed = {a};
  EXPECT_EQ(ask(place, failed).first, AdmissionQueue::Answer::NoReplica);
  EXPECT_EQ(ask(place).first, AdmissionQueue::Answer::Granted);
  EXPECT_EQ(seen(), 1U);
}

TEST(SizeOrder, SaysWhenReplicasMayTakeOtherSizes) {
  Assignment assignment(by_size(PolicyKind::LeastLoaded));
  AdmissionQueue queue(assignment);
  Decision decision;
  std::vector<int> changes;
  for (int i = 1; i <= 800; ++i) {
    QueueEntry entry;
    const Arrival arrival{kPremium, "", i % 2 == 0 ? 0.01 : 0.02};
    if (queue.arrive(entry, arrival, {}, 1s)) changes.push_back(i);
    EXPECT_EQ(queue.ask(entry, arrival, {}, {}, 1s, AdmissionQueue::Wait::No, decision),
              AdmissionQueue::Answer::Granted);
  }
  EXPECT_EQ(changes, (std::vector<int>{64, 128, 256, 512, 768}));
}

// The small one waits for "a". That "b" would go home for it must not be forgotten with it: the large one can
// go there.
TEST(SizeOrder, AsksForEverySizeWhereReplicasWouldReturn) {
  Assignment assignment(by_size(PolicyKind::Plb, 1));
  teach(assignment);
  const ReplicaId b = *assignment.find_replica("b");
  const std::vector<std::int64_t> premium = {1, 0}, freemium = {0, 1};
  assignment.preset(*assignment.find_replica("a"), kPremium, false, premium);
  assignment.preset(b, kFreemium, true, freemium);
  for (const char* name : {"c", "d"})
    assignment.preset(*assignment.find_replica(name), kFreemium, false, freemium);
  AdmissionQueue queue(assignment);
  Decision decision;
  QueueEntry small, large;
  const auto ask = [&](QueueEntry& entry, double size) {
    return queue.ask(entry, {kPremium, "", size}, {}, {}, 1s, AdmissionQueue::Wait::Yes, decision);
  };
  EXPECT_EQ(ask(small, 0.01), AdmissionQueue::Answer::Queued);
  EXPECT_EQ(ask(large, 0.1), AdmissionQueue::Answer::Queued);
  assignment.close(b, kFreemium);
  EXPECT_EQ(queue.next(2s, decision), &large);
  EXPECT_EQ(decision.replica, b);
  queue.withdraw(small);
}

TEST(SizeOrder, KeepsOneSetOfFailuresForAllSizes) {
  Assignment assignment(by_size(PolicyKind::LeastLoaded, 1));
  teach(assignment);
  for (const double size : {0.01, 0.01, 0.1, 0.1})
    admitted(assignment, kPremium, size);
  AdmissionQueue queue(assignment);
  Decision decision;
  const ReplicaId a = *assignment.find_replica("a");
  const std::vector<ReplicaId> failed = {a};
  std::vector<std::unique_ptr<QueueEntry>> entries;
  double size = 128;
  for (int i = 0; i < 30; ++i, size /= 1.5) {
    entries.push_back(std::make_unique<QueueEntry>());
    EXPECT_EQ(
        queue.ask(*entries.back(), {kPremium, "", size}, {}, failed, 1s, AdmissionQueue::Wait::Yes, decision),
        AdmissionQueue::Answer::Queued);
  }
  assignment.close(a, kPremium);
  EXPECT_EQ(queue.next(2s, decision), nullptr) << "nobody has forgotten that it could not use that one";
  for (const auto& entry : entries)
    if (entry->queued()) queue.withdraw(*entry);
}

TEST(SizeOrder, CanBeReloaded) {
  PoolConfig config = by_size(PolicyKind::Plb);
  Assignment assignment(config);
  teach(assignment);
  config.order = ReplicaOrder::LeastLoaded;
  assignment.reconfigure(config);
  EXPECT_EQ(admitted(assignment, kPremium, 0.1), "a");
  EXPECT_TRUE(assignment.size_pools().empty());
  config.order = ReplicaOrder::SitaV;
  assignment.reconfigure(config);
  EXPECT_EQ(admitted(assignment, kPremium, 0.1), "b") << "what was learned stays";
}

TEST(SizeOrder, IsTheSameForTheSameArrivals) {
  for (const ReplicaOrder order : {ReplicaOrder::SitaE, ReplicaOrder::SitaV}) {
    PoolConfig config = by_size(PolicyKind::LeastLoaded);
    config.order = order;
    Assignment one(config), other(config);
    Rng rng(9);
    for (int i = 0; i < 3000; ++i) {
      const double size = 0.001 * static_cast<double>(1 + rng.below(1000));
      const Decision a = one.admit({kPremium, "", size}), b = other.admit({kPremium, "", size});
      ASSERT_EQ(a.replica, b.replica);
      one.close(a.replica, a.counted_in);
      other.close(b.replica, b.counted_in);
    }
  }
}

}  // namespace
}  // namespace sluice::policy
