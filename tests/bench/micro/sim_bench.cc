#include <benchmark/benchmark.h>

#include "sim/job_stream.h"
#include "sim/limited_server.h"
#include "sim/preemptive_server.h"

namespace sluice::sim {
namespace {

template <class Make>
void run_stream(benchmark::State& state, std::size_t hosts, Dispatcher& dispatcher, Make make) {
  const auto law = stats::BoundedPareto::with_mean(3000, 1e5, 1.5);
  std::uint64_t events = 0;
  for (auto _ : state) {
    std::vector<std::unique_ptr<Server>> servers;
    for (std::size_t i = 0; i < hosts; ++i)
      servers.push_back(make());
    const StreamOutcome out = run({.sizes = law,
                                   .lambda = 0.8 * static_cast<double>(hosts) / 3000,
                                   .jobs = 100'000,
                                   .seed = events + 1},
                                  servers, dispatcher);
    benchmark::DoNotOptimize(out.duration);
    events += out.events;
  }
  state.counters["events"] = benchmark::Counter(static_cast<double>(events), benchmark::Counter::kIsRate);
}

template <class S>
void serve(benchmark::State& state, const typename S::Settings& settings) {
  RandomDispatcher random(1);
  run_stream(state, static_cast<std::size_t>(state.range(0)), random,
             [&] { return std::make_unique<S>(settings); });
}
void sharing(benchmark::State& state, const SharingServer::Settings& settings) {
  serve<SharingServer>(state, settings);
}
void limited(benchmark::State& state, const LimitedServer::Settings& settings) {
  serve<LimitedServer>(state, settings);
}
BENCHMARK_CAPTURE(limited, fcfs, {.active_max = 1})->Arg(1)->Arg(8)->ArgName("hosts");
BENCHMARK_CAPTURE(sharing, ps, {})->Arg(1)->Arg(8)->ArgName("hosts");
BENCHMARK_CAPTURE(limited, ps, {.cores = 1, .active_max = 4})->Arg(1)->Arg(8)->ArgName("hosts");

void srpt(benchmark::State& state) {
  RandomDispatcher random(1);
  run_stream(state, static_cast<std::size_t>(state.range(0)), random,
             [] { return std::make_unique<PreemptiveServer>(PreemptiveOrder::ShortestRemaining); });
}
BENCHMARK(srpt)->Arg(1)->Arg(8)->ArgName("hosts");

void least_work(benchmark::State& state) {
  LeastWorkDispatcher least;
  run_stream(state, 8, least,
             [] { return std::make_unique<LimitedServer>(LimitedServer::Settings{.active_max = 1}); });
}
BENCHMARK(least_work);

void shortest_queue(benchmark::State& state) {
  PolicyDispatcher shortest(policy::PolicyKind::LeastLoaded, 8);
  run_stream(state, 8, shortest,
             [] { return std::make_unique<LimitedServer>(LimitedServer::Settings{.active_max = 1}); });
}
BENCHMARK(shortest_queue);

}  // namespace
}  // namespace sluice::sim
