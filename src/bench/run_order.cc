#include "bench/run_order.h"

#include <utility>

#include "sluice/rng.h"

namespace sluice::bench {

std::vector<PlannedRun> run_order(const Grid& grid) {
  Rng rng(grid.seed);
  std::vector<std::pair<std::size_t, double>> configurations;
  for (const std::size_t terminals : grid.terminals)
    for (const double share : grid.premium_shares)
      configurations.emplace_back(terminals, share);
  std::vector<std::string> strategies = grid.strategies;
  std::vector<PlannedRun> runs;
  for (std::size_t repetition = 1; repetition <= grid.repetitions; ++repetition) {
    shuffle(configurations, rng);
    for (const auto& [terminals, share] : configurations) {
      shuffle(strategies, rng);
      for (const std::string& strategy : strategies)
        runs.push_back({strategy, terminals, share, repetition});
    }
  }
  return runs;
}

}  // namespace sluice::bench
