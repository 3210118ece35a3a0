#include <deque>
#include <map>
#include <memory>

#include <gtest/gtest.h>

#include "tests/policy/history.h"
#include "tests/policy/queue_history.h"

namespace sluice::policy {
namespace {

using namespace std::chrono_literals;

void play_all(const QueueHistoryKind& kind, std::uint64_t count) {
  for (const std::uint64_t seed : seeds(count)) {
    const std::string fault = play_queue_history(kind, seed);
    ASSERT_EQ(fault, "") << "SLUICE_SEED=" << seed << ", policy " << policy_name(kind.policy);
  }
}

constexpr PolicyKind kPolicies[] = {
    PolicyKind::Plb,       PolicyKind::RoundRobin,       PolicyKind::LeastLoaded,
    PolicyKind::Dedicated, PolicyKind::RandomTwoChoices, PolicyKind::Proportional};

TEST(QueueHistories, AgreeWithAListThatIsSortedAndAskedInFull) {
  for (const PolicyKind policy : kPolicies)
    play_all({.policy = policy}, 60);
  play_all({.class_count = 4, .replica_count = 8}, 60);
}

TEST(QueueHistories, AgreeWhenReplicasFailAndReturn) {
  for (const PolicyKind policy : kPolicies)
    play_all({.policy = policy, .failures = true}, 60);
}

TEST(QueueHistories, AgreeWhenRequestsHaveFailedSomewhere) {
  for (const PolicyKind policy : kPolicies)
    play_all({.policy = policy, .failures = true, .exclusions = true}, 60);
}

TEST(QueueHistories, AgreeWhenDatabasesHaveLimitsOfTheirOwn) {
  for (const PolicyKind policy : kPolicies)
    play_all({.policy = policy, .class_count = 3, .gates = true}, 60);
}

TEST(QueueHistories, AgreeAcrossReloads) {
  for (const PolicyKind policy : kPolicies)
    play_all({.policy = policy, .class_count = 3, .failures = true, .gates = true, .reloads = true}, 60);
}

TEST(QueueHistories, AgreeWhereTheShortestIsFirst) {
  for (const PolicyKind policy : kPolicies)
    play_all({.policy = policy,
              .class_count = 3,
              .failures = true,
              .gates = true,
              .reloads = true,
              .sizes = true,
              .discipline = QueueDiscipline::ShortestFirst},
             60);
}

TEST(QueueHistories, AgreeWhereReplicasTakeIntervalsOfSizes) {
  for (const PolicyKind policy : {PolicyKind::Plb, PolicyKind::LeastLoaded})
    for (const ReplicaOrder order : {ReplicaOrder::SitaE, ReplicaOrder::SitaV})
      for (const QueueDiscipline discipline : {QueueDiscipline::Fcfs, QueueDiscipline::ShortestFirst})
        play_all({.policy = policy,
                  .replica_count = 5,
                  .failures = true,
                  .exclusions = true,
                  .gates = true,
                  .reloads = true,
                  .sizes = true,
                  .discipline = discipline,
                  .order = order},
                 40);
}

// The bound of admission_queue.h: where every waiter can use every slot, an aged one sees at most as many
// grants to others as there were waiters when it came, whatever arrives behind it; and none of them to a
// later one.
class AgeingHistory {
 public:
  AgeingHistory(std::uint64_t seed, QueueDiscipline discipline)
      : rng_(seed), assignment_(config()), queue_(assignment_) {
    QueueSettings settings;
    settings.discipline = discipline;
    settings.ageing = kAgeing;
    queue_.set_settings(settings);
  }
  ~AgeingHistory() {
    for (auto& [entry, waiter] : waiting_)
      queue_.withdraw(*waiter->entry);
  }

  // Mostly the highest class arrives, more than the slots can serve.
  void play(int steps) {
    for (int i = 0; i < steps; ++i) {
      now_ += std::chrono::milliseconds(rng_.below(20));
      if (!open_.empty() && rng_.below(100) < 45) {
        close();
      } else {
        ask(rng_.below(100) < 85 ? 0 : 1 + static_cast<std::uint32_t>(rng_.below(2)));
      }
    }
  }
  std::size_t aged_grants() const { return aged_grants_; }

 private:
  static constexpr auto kAgeing = 500ms;
  struct Waiter {
    std::unique_ptr<QueueEntry> entry = std::make_unique<QueueEntry>();
    std::size_t ahead = 0;             // when it came
    std::size_t grants_to_others = 0;  // since it is aged
  };

  static PoolConfig config() {
    PoolConfig config;
    config.policy = PolicyKind::LeastLoaded;
    for (const char* name : {"high", "middle", "low"})
      config.classes.emplace_back().name = name;
    for (const char* name : {"a", "b"}) {
      config.replicas.emplace_back().name = name;
      config.replicas.back().max_active = 2;
    }
    return config;
  }

  void ask(std::uint32_t c) {
    auto waiter = std::make_unique<Waiter>();
    waiter->ahead = waiting_.size();
    Decision decision;
    QueueEntry& entry = *waiter->entry;
    const auto answer = queue_.ask(entry, {ClassId(c), "", 0.001 * static_cast<double>(1 + rng_.below(1000))},
                                   {}, {}, now_, AdmissionQueue::Wait::Yes, decision);
    if (answer == AdmissionQueue::Answer::Granted) {
      EXPECT_TRUE(waiting_.empty()) << "a newcomer overtook";
      open_.push_back(decision);
    } else {
      waiting_.emplace(&entry, std::move(waiter));
    }
  }

  void close() {
    const std::size_t which = rng_.below(open_.size());
    assignment_.close(open_[which].replica, open_[which].counted_in);
    open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(which));
    Decision decision;
    while (QueueEntry* const entry = queue_.next(now_, decision)) {
      const auto found = waiting_.find(entry);
      const std::unique_ptr<Waiter> served = std::move(found->second);
      waiting_.erase(found);
      open_.push_back(decision);
      if (now_ - entry->place().since >= kAgeing) ++aged_grants_;
      for (auto& [other, waiter] : waiting_) {
        if (now_ - other->place().since < kAgeing) continue;
        EXPECT_LT(entry->place().number, other->place().number) << "an aged waiter was overtaken";
        EXPECT_LE(++waiter->grants_to_others, waiter->ahead);
      }
    }
  }

  Rng rng_;
  Assignment assignment_;
  AdmissionQueue queue_;
  std::map<const QueueEntry*, std::unique_ptr<Waiter>> waiting_;
  std::vector<Decision> open_;
  QueueTime now_{1s};
  std::size_t aged_grants_ = 0;
};

TEST(QueueAgeing, BoundsTheWaitOfEveryClass) {
  for (const QueueDiscipline discipline : {QueueDiscipline::Fcfs, QueueDiscipline::ShortestFirst})
    for (const std::uint64_t seed : seeds(100)) {
      AgeingHistory history(seed, discipline);
      history.play(600);
      EXPECT_GT(history.aged_grants(), 0U) << "SLUICE_SEED=" << seed;
      if (::testing::Test::HasFailure()) FAIL() << "SLUICE_SEED=" << seed;
    }
}

}  // namespace
}  // namespace sluice::policy
