#include <memory>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "sluice/policy/admission_queue.h"

#include "tests/policy/two_classes.h"

namespace sluice::policy {
namespace {

using namespace std::chrono_literals;
using Answer = AdmissionQueue::Answer;
using Wait = AdmissionQueue::Wait;

// Two classes with a replica each, and one slot on each replica.
PoolConfig two_of_one(PolicyKind policy = PolicyKind::Plb) {
  PoolConfig config;
  config.policy = policy;
  for (const char* name : {"premium", "freemium"}) {
    ClassParams& c = config.classes.emplace_back();
    c.name = name;
    c.target = 1;
    c.return_ratio = *Ratio::parse("0.5");
  }
  config.classes[1].floor = 1;
  config.replicas = {{"p", std::nullopt, 1, 1}, {"f", std::nullopt, 1, 1}};
  return config;
}

class Queue {
 public:
  explicit Queue(const PoolConfig& config) : assignment(config), queue(assignment) {}
  ~Queue() {
    for (auto& entry : entries)
      if (entry->queued()) queue.withdraw(*entry);
  }

  Answer ask(ClassId c, ReplicaSet failed = {}, Gates gates = {}, Wait wait = Wait::Yes,
             std::optional<double> size = {}) {
    entries.push_back(std::make_unique<QueueEntry>());
    return queue.ask(*entries.back(), {c, "", size}, gates, failed, now, wait, decision);
  }
  Answer ask_of_size(ClassId c, std::optional<double> size) { return ask(c, {}, {}, Wait::Yes, size); }
  // The place in `entries` of the one that is served next, -1 if nobody can be.
  int next() {
    const QueueEntry* const entry = queue.next(now, decision);
    for (std::size_t i = 0; i < entries.size(); ++i)
      if (entries[i].get() == entry) return static_cast<int>(i);
    return -1;
  }
  std::string replica() const { return assignment.pools().name(decision.replica); }
  void close(std::string_view name, ClassId c) { assignment.close(*assignment.find_replica(name), c); }

  Assignment assignment;
  AdmissionQueue queue;
  Decision decision;
  QueueTime now{1s};
  std::vector<std::unique_ptr<QueueEntry>> entries;
};

TEST(AdmissionQueue, GrantsWhereThereIsASlotAndQueuesWhereThereIsNone) {
  Queue q(two_of_one());
  EXPECT_EQ(q.ask(kPremium), Answer::Granted);
  EXPECT_EQ(q.replica(), "p");
  EXPECT_EQ(q.ask(kFreemium), Answer::Granted);
  EXPECT_EQ(q.replica(), "f");
  EXPECT_EQ(q.ask(kPremium), Answer::Queued);
  EXPECT_EQ(q.ask(kFreemium), Answer::Queued);
  EXPECT_EQ(q.next(), -1);
  EXPECT_EQ(q.queue.waiting(), 2U);
  EXPECT_EQ(q.queue.waiting(kPremium), 1U);
}

TEST(AdmissionQueue, GivesASlotToTheFirstInTheQueueThatCanUseIt) {
  Queue q(two_of_one());
  q.ask(kPremium);
  q.ask(kFreemium);
  EXPECT_EQ(q.ask(kFreemium), Answer::Queued);
  EXPECT_EQ(q.ask(kPremium), Answer::Queued);
  q.close("f", kFreemium);
  EXPECT_EQ(q.next(), 2) << "Premium is first, but the floor keeps the last Freemium replica from it";
  EXPECT_EQ(q.replica(), "f");
  q.close("p", kPremium);
  EXPECT_EQ(q.next(), 3);
  EXPECT_EQ(q.next(), -1);
}

TEST(AdmissionQueue, DoesNotLetAClassCrowdIntoAnotherPoolForWantOfASlot) {
  Queue q(two_of_one());
  EXPECT_EQ(q.ask(kFreemium), Answer::Granted);
  EXPECT_EQ(q.ask(kFreemium), Answer::Queued) << "the idle Premium replica is kept by its target";
  q.assignment.set_up(*q.assignment.find_replica("f"), false);
  EXPECT_EQ(q.next(), 1) << "without any live replica of its own it may have every other";
  EXPECT_EQ(q.replica(), "p");
  EXPECT_EQ(q.decision.outcome, Outcome::FallbackAny);
}

TEST(AdmissionQueue, ChangesNoRoleForWhoMustWait) {
  PoolConfig config = two_of_one();
  config.classes[0].target = 2;
  config.replicas = {
      {"p", std::nullopt, 1, 1}, {"b", "mixed", 1, 1}, {"f", "freemium", 1, 1}, {"g", "freemium", 1, 1}};
  Queue q(config);
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(q.ask(kPremium), Answer::Granted);
  const ReplicaId b = *q.assignment.find_replica("b");
  EXPECT_TRUE(q.assignment.pools().borrowed(b));
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(q.ask(kFreemium), Answer::Granted);
  EXPECT_EQ(q.ask(kFreemium), Answer::Queued);
  EXPECT_TRUE(q.decision.waits);
  EXPECT_TRUE(q.decision.changes.empty());
  EXPECT_TRUE(q.assignment.pools().borrowed(b));
  EXPECT_EQ(q.assignment.snapshot().returns, 0U);
  EXPECT_EQ(q.assignment.snapshot().classes[1].decisions[static_cast<std::size_t>(Outcome::Refused)], 0U);
}

TEST(AdmissionQueue, ServesClassesInOrderAndEachByArrival) {
  Queue q(two_of_one(PolicyKind::LeastLoaded));
  q.ask(kFreemium);
  q.ask(kFreemium);
  for (const ClassId c : {kFreemium, kPremium, kFreemium, kPremium})
    EXPECT_EQ(q.ask(c), Answer::Queued);
  std::vector<int> order;
  ClassId on_p = kFreemium;
  for (int i = 0; i < 4; ++i) {
    q.close("p", on_p);
    order.push_back(q.next());
    on_p = q.decision.counted_in;
  }
  EXPECT_EQ(order, (std::vector<int>{3, 5, 2, 4}));
}

TEST(AdmissionQueue, ServesTheAgedFirst) {
  Queue q(two_of_one(PolicyKind::LeastLoaded));
  QueueSettings settings;
  settings.ageing = 10s;
  q.queue.set_settings(settings);
  q.ask(kFreemium);
  q.ask(kFreemium);
  EXPECT_EQ(q.ask(kFreemium), Answer::Queued);
  q.now += 9999ms;
  EXPECT_EQ(q.ask(kPremium), Answer::Queued);
  q.close("p", kFreemium);
  EXPECT_EQ(q.next(), 3);
  EXPECT_EQ(q.ask(kPremium), Answer::Queued);
  q.now += 1ms;
  q.close("f", kFreemium);
  EXPECT_EQ(q.next(), 2);
}

QueueSettings shortest_first() {
  QueueSettings settings;
  settings.discipline = QueueDiscipline::ShortestFirst;
  return settings;
}

TEST(AdmissionQueue, ServesTheShortestOfAClassFirst) {
  Queue q(two_of_one(PolicyKind::LeastLoaded));
  q.queue.set_settings(shortest_first());
  q.ask(kFreemium);
  q.ask(kFreemium);
  for (const double size : {0.3, 0.1, 0.2, 0.1})
    EXPECT_EQ(q.ask_of_size(kFreemium, size), Answer::Queued);
  EXPECT_EQ(q.ask_of_size(kPremium, 5), Answer::Queued);
  std::vector<int> order;
  for (int i = 0; i < 5; ++i) {
    q.close("p", i == 1 ? kPremium : kFreemium);
    order.push_back(q.next());
  }
  EXPECT_EQ(order, (std::vector<int>{6, 3, 5, 4, 2})) << "classes first, then sizes, then arrival";
}

TEST(AdmissionQueue, TakesAnUnknownSizeForTheMean) {
  Queue q(two_of_one(PolicyKind::LeastLoaded));
  q.queue.set_settings(shortest_first());
  q.ask_of_size(kPremium, 0.2);
  q.ask_of_size(kPremium, 0.4);
  for (const std::optional<double> size :
       {std::optional(0.31), std::optional<double>(), std::optional(0.29), std::optional(-1.0)})
    EXPECT_EQ(q.ask_of_size(kPremium, size), Answer::Queued);
  std::vector<int> order;
  for (int i = 0; i < 4; ++i) {
    q.close("p", kPremium);
    order.push_back(q.next());
  }
  EXPECT_EQ(order, (std::vector<int>{4, 5, 3, 2})) << "the means are 0.3033 and 0.3 by then";
}

TEST(AdmissionQueue, ServesTheAgedBeforeTheShortest) {
  Queue q(two_of_one(PolicyKind::LeastLoaded));
  QueueSettings settings = shortest_first();
  settings.ageing = 10s;
  q.queue.set_settings(settings);
  q.ask(kFreemium);
  q.ask(kFreemium);
  q.ask_of_size(kFreemium, 100);
  q.now += 10s;
  q.ask_of_size(kFreemium, 1);
  q.ask_of_size(kFreemium, 0.5);
  q.close("p", kFreemium);
  EXPECT_EQ(q.next(), 2);
  q.close("p", kFreemium);
  EXPECT_EQ(q.next(), 4);
}

TEST(AdmissionQueue, MayChangeItsDisciplineWhileTheyWait) {
  Queue q(two_of_one(PolicyKind::LeastLoaded));
  q.ask(kPremium);
  q.ask(kPremium);
  for (const double size : {3.0, 2.0, 1.0})
    q.ask_of_size(kPremium, size);
  q.queue.set_settings(shortest_first());
  q.close("p", kPremium);
  EXPECT_EQ(q.next(), 4);
  q.queue.set_settings({});
  q.close("p", kPremium);
  EXPECT_EQ(q.next(), 2);
  q.queue.set_settings(shortest_first());
  q.queue.withdraw(*q.entries[3]);
  EXPECT_EQ(q.queue.waiting(), 0U);
}

TEST(AdmissionQueue, PutsThoseWhoWaitBehindTheGatesOfAReload) {
  Queue q(two_of_one(PolicyKind::LeastLoaded));
  q.ask(kPremium);
  q.ask(kPremium);
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(q.ask(kPremium), Answer::Queued);
  Gate gate;
  gate.closed = true;
  q.queue.regroup(
      [&](const QueueEntry& entry) { return entry.place().number % 2 == 0 ? Gates{} : Gates{&gate}; });
  EXPECT_EQ(q.queue.waiting(), 4U);
  std::vector<int> order;
  for (int i = 0; i < 3; ++i) {
    q.close("p", kPremium);
    order.push_back(q.next());
  }
  EXPECT_EQ(order, (std::vector<int>{3, 5, -1}));
  gate.closed = false;
  EXPECT_EQ(q.next(), 2);
}

TEST(AdmissionQueue, NamesTheLimitOfTheQueue) {
  Queue q(two_of_one());
  QueueSettings settings;
  settings.waiting_max = 2;
  settings.of_rank[1] = 1;
  q.queue.set_settings(settings);
  q.ask(kPremium);
  q.ask(kFreemium);
  EXPECT_EQ(q.ask(kFreemium), Answer::Queued);
  EXPECT_EQ(q.ask(kFreemium), Answer::ClassFull);
  EXPECT_EQ(q.ask(kPremium), Answer::Queued);
  EXPECT_EQ(q.ask(kPremium), Answer::Full);
  EXPECT_EQ(q.ask(kPremium, {}, {}, Wait::No), Answer::WouldWait);
  q.queue.withdraw(*q.entries[2]);
  EXPECT_EQ(q.ask(kPremium), Answer::Queued);
}

TEST(AdmissionQueue, SaysWhenNoReplicaIsLive) {
  Queue q(two_of_one());
  q.ask(kPremium);
  const std::vector<ReplicaId> both = {ReplicaId(0), ReplicaId(1)};
  EXPECT_EQ(q.ask(kPremium, both), Answer::NoReplica);
  EXPECT_EQ(q.ask(kPremium), Answer::Queued);
  q.assignment.set_up(ReplicaId(0), false);
  q.assignment.set_up(ReplicaId(1), false);
  EXPECT_EQ(q.ask(kPremium), Answer::NoReplica);
  EXPECT_EQ(q.next(), -1) << "who waits already waits on";
  q.assignment.set_up(ReplicaId(1), true);
  EXPECT_EQ(q.next(), 2);
}

TEST(AdmissionQueue, GivesBackAFailedReplicaOnlyWhenThereIsNoOther) {
  Queue q(two_of_one(PolicyKind::LeastLoaded));
  q.ask(kPremium);
  q.ask(kPremium);
  const std::vector<ReplicaId> failed = {ReplicaId(0)};
  EXPECT_EQ(q.ask(kPremium, failed), Answer::Queued);
  q.close("p", kPremium);
  EXPECT_EQ(q.next(), -1);
  q.assignment.set_up(ReplicaId(1), false);
  EXPECT_EQ(q.next(), 2);
  EXPECT_EQ(q.replica(), "p");
}

TEST(AdmissionQueue, PassesOverThoseBehindAClosedGate) {
  Queue q(two_of_one(PolicyKind::LeastLoaded));
  Gate small;
  small.limit = 1;
  EXPECT_EQ(q.ask(kPremium, {}, {&small, nullptr}), Answer::Granted);
  ++small.active;
  EXPECT_EQ(q.ask(kPremium, {}, {&small, nullptr}), Answer::Queued);
  EXPECT_EQ(q.ask(kFreemium), Answer::Granted) << "no waiter could have had that slot";
  EXPECT_EQ(q.ask(kFreemium), Answer::Queued);
  q.close("f", kFreemium);
  EXPECT_EQ(q.next(), 3);
  q.close("p", kPremium);
  --small.active;
  EXPECT_EQ(q.next(), 1);
}

TEST(AdmissionQueue, BoundsTheSetsOfFailures) {
  PoolConfig config = two_of_one(PolicyKind::LeastLoaded);
  for (int i = 0; i < 40; ++i)
    config.replicas.push_back({"r" + std::to_string(i), std::nullopt, 1, 1});
  Queue q(config);
  for (std::size_t i = 0; i < config.replicas.size(); ++i)
    EXPECT_EQ(q.ask(kPremium), Answer::Granted);
  for (std::uint32_t i = 0; i < 40; ++i) {
    const std::vector<ReplicaId> failed = {ReplicaId(i)};
    EXPECT_EQ(q.ask(kPremium, failed), Answer::Queued);
  }
  for (std::uint32_t i = 0; i < 40; ++i) {
    q.assignment.close(ReplicaId(i), kPremium);
    EXPECT_NE(q.next(), -1);
  }
  EXPECT_EQ(q.queue.waiting(), 0U);
}

TEST(AdmissionQueue, KeepsThePlaceOfOneThatAsksAgain) {
  Queue q(two_of_one());
  EXPECT_EQ(q.ask(kPremium), Answer::Granted);
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(q.ask(kPremium), Answer::Queued);
  q.close("p", kPremium);
  EXPECT_EQ(q.next(), 1);
  const QueuePlace place = q.entries[1]->place();
  // It finds no use for the slot, and another one has it by the time that it asks again.
  q.close("p", kPremium);
  EXPECT_EQ(q.next(), 2);
  q.now += 1s;
  q.entries[1]->keep_place(place);
  EXPECT_EQ(q.queue.ask(*q.entries[1], {kPremium, "", std::nullopt}, {}, {}, q.now, Wait::Yes, q.decision),
            Answer::Queued);
  EXPECT_EQ(q.entries[1]->place().since, QueueTime(1s));
  q.close("p", kPremium);
  EXPECT_EQ(q.next(), 1) << "before the one that came later";
  q.close("p", kPremium);
  EXPECT_EQ(q.next(), 3);
}

// As transactions do it: the request that asks again is not the one that asked first.
TEST(AdmissionQueue, KeepsTheSizeOfOneThatAsksAgainWithAnotherEntry) {
  Queue q(two_of_one(PolicyKind::LeastLoaded));
  q.queue.set_settings(shortest_first());
  q.ask_of_size(kPremium, 9);
  const QueuePlace place = q.entries[0]->place();
  q.ask_of_size(kPremium, 1);
  EXPECT_EQ(q.ask_of_size(kPremium, 5), Answer::Queued);
  EXPECT_EQ(q.ask_of_size(kPremium, 7), Answer::Queued);
  q.entries.push_back(std::make_unique<QueueEntry>());
  q.entries[4]->keep_place(place);
  const Arrival arrival{kPremium, "", 9.0};
  EXPECT_FALSE(q.queue.arrive(*q.entries[4], arrival, {}, q.now));
  EXPECT_EQ(q.queue.ask(*q.entries[4], arrival, {}, {}, q.now, Wait::Yes, q.decision), Answer::Queued);
  std::vector<int> order;
  for (int i = 0; i < 3; ++i) {
    q.close("p", kPremium);
    order.push_back(q.next());
  }
  EXPECT_EQ(order, (std::vector<int>{2, 3, 4}));
}

TEST(AdmissionQueue, KeepsWhoWaitsBehindAClosedGateInItsPlace) {
  Queue q(two_of_one());
  Gate gate;
  EXPECT_EQ(q.ask(kPremium, {}, {&gate}), Answer::Granted);
  EXPECT_EQ(q.ask(kPremium, {}, {&gate}), Answer::Queued);
  gate.closed = true;
  EXPECT_EQ(q.ask(kPremium), Answer::Queued);
  q.close("p", kPremium);
  EXPECT_EQ(q.next(), 2);
  EXPECT_EQ(q.next(), -1);
  EXPECT_EQ(q.ask(kPremium, {}, {&gate}), Answer::Queued);
  gate.closed = false;
  q.close("p", kPremium);
  EXPECT_EQ(q.next(), 1);
}

}  // namespace
}  // namespace sluice::policy
