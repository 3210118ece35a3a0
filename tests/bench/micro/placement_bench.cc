#include <benchmark/benchmark.h>

#include "sluice/placement/adaptive.h"

namespace sluice::placement {
namespace {

std::vector<HostInputs> hosts_of(std::int64_t count) {
  std::vector<HostInputs> hosts(static_cast<std::size_t>(count));
  for (std::size_t h = 0; h < hosts.size(); ++h) {
    hosts[h].client = hosts[h].path = hosts[h].connect = Millis(1 + 0.1 * static_cast<double>(h));
    hosts[h].sql = Millis(0.3 - 0.01 * static_cast<double>(h));
    hosts[h].residual = Millis(0.2);
  }
  return hosts;
}

void profiled(benchmark::State& state) {
  const std::vector<HostInputs> hosts = hosts_of(state.range(0));
  const RouteInputs route{.n_serial = 12};
  for (auto _ : state)
    benchmark::DoNotOptimize(choose(Policy::Profiled, route, hosts));
}
BENCHMARK(profiled)->Arg(2)->Arg(8);

// One decision with its bookkeeping, on routes in a random order: nothing is in the cache because it was just
// used.
void adaptive(benchmark::State& state) {
  const std::vector<HostInputs> hosts = hosts_of(state.range(0));
  const auto routes = static_cast<std::uint64_t>(state.range(1));
  Adaptive placer(routes, hosts.size(), {});
  Rng rng(1);
  Now now{0};
  const RouteInputs inputs{.n_serial = 12};
  for (auto _ : state) {
    now += std::chrono::microseconds(50);
    const std::size_t route = rng.below(routes);
    const Placement placement = *placer.choose(route, inputs, hosts, now, rng);
    placer.started(placement.host);
    placer.finished(placement.host);
    placer.observe(route, placement, Millis(4 + rng.unit()), now);
  }
}
BENCHMARK(adaptive)->Args({2, 1000})->Args({8, 1000})->Args({64, 1000});

}  // namespace
}  // namespace sluice::placement
