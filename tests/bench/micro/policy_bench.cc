#include <array>

#include <benchmark/benchmark.h>

#include "sluice/policy/admission_queue.h"
#include "sluice/policy/assignment.h"

namespace sluice::policy {
namespace {

// A fifth of the replicas Mixed, the rest shared evenly by the classes.
PoolConfig config_of(PolicyKind policy, std::int64_t replicas, std::int64_t classes) {
  PoolConfig config;
  config.policy = policy;
  const std::int64_t target = (replicas - replicas / 5) / classes;
  for (std::int64_t c = 0; c < classes; ++c)
    config.classes.push_back({"c" + std::to_string(c), 10, *Ratio::parse("0.80"),
                              c == 0 ? 0 : std::max<std::int64_t>(1, target / 2), target});
  for (std::int64_t r = 0; r < replicas; ++r)
    config.replicas.push_back({"r" + std::to_string(r), std::nullopt});
  return config;
}

void admit_and_close(benchmark::State& state, Assignment& assignment, ClassId c) {
  for (auto _ : state) {
    const Decision decision = assignment.admit({c, "", std::nullopt});
    benchmark::DoNotOptimize(decision.replica);
    assignment.close(decision.replica, decision.counted_in);
  }
}

void own(benchmark::State& state, PolicyKind policy) {
  Assignment assignment(config_of(policy, state.range(0), state.range(1)));
  admit_and_close(state, assignment, ClassId(0));
}

// Every replica hosts more sessions of every class than saturation allows, so that each step is tried in
// vain.
void fallback(benchmark::State& state, PolicyKind policy) {
  Assignment assignment(config_of(policy, state.range(0), state.range(1)));
  const std::vector<std::int64_t> loads(static_cast<std::size_t>(state.range(1)), 20);
  for (std::int64_t r = 0; r < state.range(0); ++r) {
    const auto c = static_cast<std::uint32_t>(r % state.range(1));
    assignment.preset(ReplicaId(static_cast<std::uint32_t>(r)), ClassId(c), r % 5 == 0, loads);
  }
  admit_and_close(state, assignment, ClassId(static_cast<std::uint32_t>(state.range(1) - 1)));
}

// Admissions and closes around saturation; the time is of one admission with its close.
void churn(benchmark::State& state, PolicyKind policy) {
  const auto classes = static_cast<std::uint64_t>(state.range(1));
  Assignment assignment(config_of(policy, state.range(0), state.range(1)));
  Rng rng(1);
  struct Open {
    ReplicaId replica;
    ClassId counted_in;
  };
  std::vector<Open> open;
  const auto admit = [&](ClassId c) {
    const Decision decision = assignment.admit({c, "", std::nullopt});
    return Open{decision.replica, decision.counted_in};
  };
  for (std::int64_t i = 0; i < state.range(0) * 10; ++i)
    open.push_back(admit(ClassId(static_cast<std::uint32_t>(rng.below(classes)))));
  std::uint64_t drift = 0;  // the mix of classes moves, so that pools must follow
  for (auto _ : state) {
    const std::uint64_t favoured = drift++ / 4096 % classes;
    const ClassId c(static_cast<std::uint32_t>(rng.below(2) == 0 ? favoured : rng.below(classes)));
    Open& leaves = open[rng.below(open.size())];
    assignment.close(leaves.replica, leaves.counted_in);
    leaves = admit(c);
  }
  const Snapshot end = assignment.snapshot();
  state.counters["borrowings"] = static_cast<double>(end.borrowings);
  state.counters["returns"] = static_cast<double>(end.returns);
}

// Every slot is taken and a hundred waiters of all classes stand in the queue: one slot is freed, goes to the
// waiter whose turn it is, and another comes.
void queued(benchmark::State& state, PolicyKind policy) {
  const auto classes = static_cast<std::uint64_t>(state.range(1));
  PoolConfig config = config_of(policy, state.range(0), state.range(1));
  for (ReplicaConfig& replica : config.replicas)
    replica.max_active = 2;
  Assignment assignment(config);
  AdmissionQueue queue(assignment);
  Rng rng(1);
  struct Open {
    ReplicaId replica;
    ClassId counted_in;
  };
  std::vector<Open> open;
  std::array<QueueEntry, 100> entries;
  std::vector<QueueEntry*> idle;
  for (QueueEntry& entry : entries)
    idle.push_back(&entry);
  QueueTime now{};
  Decision decision;
  const auto ask = [&] {
    const ClassId c(static_cast<std::uint32_t>(rng.below(classes)));
    const auto answer =
        queue.ask(*idle.back(), {c, "", std::nullopt}, {}, {}, now, AdmissionQueue::Wait::Yes, decision);
    if (answer == AdmissionQueue::Answer::Granted) open.push_back({decision.replica, decision.counted_in});
    if (answer == AdmissionQueue::Answer::Queued) idle.pop_back();
  };
  while (!idle.empty())
    ask();
  for (auto _ : state) {
    now += std::chrono::microseconds(10);
    Open& leaves = open[rng.below(open.size())];
    assignment.close(leaves.replica, leaves.counted_in);
    leaves = open.back();
    open.pop_back();
    while (QueueEntry* const entry = queue.next(now, decision)) {
      open.push_back({decision.replica, decision.counted_in});
      idle.push_back(entry);
    }
    while (!idle.empty())
      ask();
  }
  for (QueueEntry& entry : entries)
    if (entry.queued()) queue.withdraw(entry);
}

#define SLUICE_SIZES \
  ->Args({8, 2})->Args({8, 4})->Args({1024, 2})->Args({1024, 4})->ArgNames({"replicas", "classes"})
BENCHMARK_CAPTURE(own, plb, PolicyKind::Plb) SLUICE_SIZES;
BENCHMARK_CAPTURE(fallback, plb, PolicyKind::Plb) SLUICE_SIZES;
BENCHMARK_CAPTURE(queued, plb, PolicyKind::Plb) SLUICE_SIZES;
BENCHMARK_CAPTURE(queued, least_loaded, PolicyKind::LeastLoaded) SLUICE_SIZES;
BENCHMARK_CAPTURE(churn, plb, PolicyKind::Plb) SLUICE_SIZES;
BENCHMARK_CAPTURE(churn, round_robin, PolicyKind::RoundRobin) SLUICE_SIZES;
BENCHMARK_CAPTURE(churn, least_loaded, PolicyKind::LeastLoaded) SLUICE_SIZES;
BENCHMARK_CAPTURE(churn, dedicated, PolicyKind::Dedicated) SLUICE_SIZES;
BENCHMARK_CAPTURE(churn, random_two_choices, PolicyKind::RandomTwoChoices) SLUICE_SIZES;
BENCHMARK_CAPTURE(churn, proportional, PolicyKind::Proportional) SLUICE_SIZES;

}  // namespace
}  // namespace sluice::policy
