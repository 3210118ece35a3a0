// What holds on every discipline, whatever the stream.

#include <bit>
#include <cmath>
#include <cstdint>
#include <numeric>

#include <gtest/gtest.h>

#include "tests/sim/disciplines.h"

namespace sluice::sim {
namespace {

TEST(Invariants, LittlesLawAndWorkInIsWorkOut) {
  const auto law = stats::BoundedPareto::with_mean(1, 100, 1.5);
  for (const Discipline& d : disciplines())
    for (const double lambda : {0.3, 0.9}) {
      SCOPED_TRACE(d.name);
      const StreamOutcome out =
          run_one({.sizes = law, .lambda = lambda, .jobs = 20'000, .seed = 4, .ranks = 3}, d.make());
      EXPECT_EQ(out.waiting.count(), 20'000U);
      // L = lambda W, from empty to empty: both sums are the time that all jobs spent in the system.
      EXPECT_NEAR(out.job_time, out.response_sum, 1e-9 * out.response_sum);
      EXPECT_NEAR(out.work_done[0], out.work_arrived, 1e-9 * out.work_arrived);
      EXPECT_GE(out.events, 40'000U);
    }
}

// Work is neither lost nor idled away: with one core every discipline empties the server at the same moments.
TEST(Invariants, DisciplinesOfOneCoreEndTogether) {
  const auto law = stats::BoundedPareto::with_mean(1, 100, 1.5);
  const JobStream stream{.sizes = law, .lambda = 0.8, .jobs = 5'000, .seed = 8, .ranks = 3};
  const double end = run_one(stream, discipline("fcfs")).duration;
  for (const char* name :
       {"ps", "sjf", "sjf behind a limit", "priority", "srpt", "scf", "psjf", "preemptive priority"})
    EXPECT_NEAR(run_one(stream, discipline(name)).duration, end, 1e-9 * end) << name;
}

// No order has a lower mean response time than SRPT, on any stream (Schrage, "A Proof of the Optimality of
// the Shortest Remaining Processing Time Discipline", Operations Research 16, 1968).
TEST(Invariants, NothingBeatsShortestRemaining) {
  const auto law = stats::LogNormal::with_mean(1, 3);
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const JobStream stream{.sizes = law, .lambda = 0.9, .jobs = 1'000, .seed = seed};
    const double srpt = run_one(stream, discipline("srpt")).response_sum;
    for (const char* name : {"fcfs", "ps", "sjf", "scf", "psjf"})
      EXPECT_GE(run_one(stream, discipline(name)).response_sum, srpt * (1 - 1e-12))
          << name << " seed " << seed;
  }
}

// Least-Work-Left gives each job to the server that would take it first from one common queue.
TEST(Invariants, LeastWorkLeftIsACentralQueue) {
  const auto law = stats::BoundedPareto::with_mean(1, 100, 1.5);
  const JobStream stream{.sizes = law, .lambda = 2.4, .jobs = 20'000, .seed = 9};
  std::vector<std::unique_ptr<Server>> hosts;
  for (int i = 0; i < 3; ++i)
    hosts.push_back(discipline("fcfs"));
  LeastWorkDispatcher least;
  const StreamOutcome apart = run(stream, hosts, least);
  const StreamOutcome central =
      run_one(stream, std::make_unique<LimitedServer>(LimitedServer::Settings{.cores = 3, .active_max = 3}));
  EXPECT_NEAR(apart.waiting.mean(), central.waiting.mean(), 1e-9 * central.waiting.mean());
  EXPECT_NEAR(apart.slowdown.mean(), central.slowdown.mean(), 1e-9 * central.slowdown.mean());
}

TEST(Invariants, SizeIntervalsSplitTheJobsAsTheyShould) {
  const auto law = stats::BoundedPareto::with_mean(1, 100, 1.5);
  std::vector<std::unique_ptr<Server>> hosts;
  for (int i = 0; i < 3; ++i)
    hosts.push_back(discipline("fcfs"));
  SitaDispatcher sita({0.5, 2});
  double work[3] = {};
  const JobStream stream{.sizes = law, .lambda = 2, .jobs = 20'000, .seed = 10};
  const StreamOutcome out = run(stream, hosts, sita, [&](const Job& job, double) {
    work[job.size <= 0.5 ? 0 : job.size <= 2 ? 1 : 2] += job.size;
  });
  for (int i = 0; i < 3; ++i)
    EXPECT_NEAR(out.work_done[static_cast<std::size_t>(i)], work[i], 1e-9 * work[i]) << i;
}

TEST(Invariants, RoundRobinAndShortestQueueAreThePolicysOwn) {
  const stats::Empirical constant(std::vector<stats::Empirical::Atom>{{1, 1}});
  for (const auto kind : {policy::PolicyKind::RoundRobin, policy::PolicyKind::LeastLoaded}) {
    std::vector<std::unique_ptr<Server>> hosts;
    for (int i = 0; i < 4; ++i)
      hosts.push_back(discipline("fcfs"));
    PolicyDispatcher dispatcher(kind, 4);
    const StreamOutcome out =
        run({.sizes = constant, .lambda = 3.6, .jobs = 10'000, .seed = 12}, hosts, dispatcher);
    std::vector<std::unique_ptr<Server>> others;
    for (int i = 0; i < 4; ++i)
      others.push_back(discipline("fcfs"));
    RandomDispatcher random(1);
    const StreamOutcome by_chance =
        run({.sizes = constant, .lambda = 3.6, .jobs = 10'000, .seed = 12}, others, random);
    EXPECT_LT(out.waiting.mean(), by_chance.waiting.mean() / 2);
    if (kind != policy::PolicyKind::RoundRobin) continue;
    for (const double work : out.work_done)
      EXPECT_NEAR(work, 2'500, 1e-6);
  }
}

// The very bits of every discipline's outcome: the same seed must give the same run on every machine.
TEST(Determinism, GivesTheseBitsEverywhere) {
  const auto law = stats::LogNormal::with_mean(1, 3);
  std::uint64_t digest = 0;
  for (const Discipline& d : disciplines()) {
    const StreamOutcome out =
        run_one({.sizes = law, .lambda = 0.9, .jobs = 3'000, .seed = 21, .ranks = 3}, d.make());
    for (const double v : {out.duration, out.job_time, out.waiting.mean(), out.slowdown.sample_variance()})
      digest = digest * 0x9E3779B97F4A7C15u + std::bit_cast<std::uint64_t>(v);
  }
  EXPECT_EQ(digest, 9928715363542256486U);
}

TEST(Determinism, SeedsGiveDifferentRuns) {
  const auto law = stats::LogNormal::with_mean(1, 3);
  const auto duration = [&](std::uint64_t seed) {
    return run_one({.sizes = law, .lambda = 0.9, .jobs = 100, .seed = seed}, discipline("ps")).duration;
  };
  EXPECT_EQ(duration(1), duration(1));
  EXPECT_NE(duration(1), duration(2));
  EXPECT_NE(derived_seed(1, 2), derived_seed(2, 1));
}

}  // namespace
}  // namespace sluice::sim
