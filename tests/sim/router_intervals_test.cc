// Size intervals in the simulator are the router's: policy::SizeIntervals, asked as the router asks it.

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include <gtest/gtest.h>

#include "sluice/policy/size_intervals.h"
#include "sluice/rng.h"
#include "sluice/stats/law.h"

#include "sim/limited_server.h"

namespace sluice::sim {
namespace {

constexpr std::size_t kHosts = 4;
const std::vector<std::int64_t> kWeights(kHosts, 1);

LimitedServer hosts_by_size() {
  return LimitedServer({.active_max = 1, .replicas = kHosts, .within_pool = policy::ReplicaOrder::SitaE});
}

// Jobs for hosts that are busy for 0.8 of the time. Calls arrived(job) when the servers have seen one come,
// and passed(job) when one has ended.
template <class Arrived, class Passed>
void play(LimitedServer& servers, std::uint32_t jobs, Arrived arrived, Passed passed) {
  const auto law = stats::BoundedPareto::with_mean(1, 100, 1.2);
  Rng rng(7);
  double next = 0;
  for (std::uint32_t made = 0; made < jobs || servers.job_count() > 0;) {
    if (made < jobs && next < servers.next_event()) {
      const Job job{next, law.draw(rng), 0, made++};
      servers.arrive(next, job);
      arrived(job);
      next += 1 / (0.8 * kHosts);
    } else if (const auto ended = servers.step()) {
      passed(*ended);
    }
  }
}

TEST(RouterIntervals, AreWhatTheRoutersObjectLearnsFromTheSameSizes) {
  LimitedServer servers = hosts_by_size();
  policy::SizeIntervals oracle;
  std::size_t compared = 0;
  const auto compare = [&](const Job& job) {
    oracle.add(job.size, 0);
    const auto pools = servers.assignment().size_pools();
    ASSERT_EQ(pools.size(), 1U);
    ASSERT_EQ(pools[0].known, oracle.known());
    if (!oracle.known()) return;
    const auto expected = oracle.intervals(kWeights);
    for (std::size_t h = 0; h < kHosts; ++h) {
      ASSERT_EQ(pools[0].intervals[h].interval.from, expected[h].from) << job.id;
      ASSERT_EQ(pools[0].intervals[h].interval.to, expected[h].to) << job.id;
    }
    ++compared;
  };
  play(servers, 5'000, compare, [](const Job&) {});
  EXPECT_EQ(compared, 5'000 - (policy::SizeIntervals::kKnownFrom - 1));
}

// Whenever a job is started, whether at once or out of the queue, it is where its size belongs at that
// moment.
TEST(RouterIntervals, GiveEachJobAHostThatTakesItsSize) {
  LimitedServer servers = hosts_by_size();
  policy::SizeIntervals oracle;
  std::unordered_map<std::uint32_t, double> waiting;
  std::size_t at_once = 0, later = 0;
  std::uint64_t jobs_of[kHosts] = {};
  const auto look = [&](std::optional<std::uint32_t> newcomer) {
    for (auto job = waiting.begin(); job != waiting.end();) {
      const auto replica = servers.replica_of(job->first);
      if (!replica) {
        ++job;
        continue;
      }
      if (oracle.known()) {
        const auto range = oracle.range(policy::size_step(job->second), kWeights);
        ASSERT_GE(replica->value(), range.first) << job->second;
        ASSERT_LE(replica->value(), range.last) << job->second;
        ++(newcomer == job->first ? at_once : later);
        ++jobs_of[replica->value()];
      }
      job = waiting.erase(job);
    }
  };
  play(
      servers, 5'000,
      [&](const Job& job) {
        oracle.add(job.size, 0);
        waiting.emplace(job.id, job.size);
        look(job.id);
      },
      [&](const Job&) { look(std::nullopt); });
  EXPECT_TRUE(waiting.empty());
  EXPECT_GT(at_once, 1'000U);
  EXPECT_GT(later, 1'000U);
  EXPECT_GT(jobs_of[0], 2 * jobs_of[kHosts - 1]) << "small jobs are many";
  EXPECT_GT(jobs_of[kHosts - 1], 20U);
}

}  // namespace
}  // namespace sluice::sim
