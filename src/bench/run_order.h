#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace sluice::bench {

// What several strategies are to run.
struct Grid {
  std::vector<std::string> strategies;
  std::vector<std::size_t> terminals;
  std::vector<double> premium_shares;
  std::size_t repetitions = 1;
  std::uint64_t seed = 1;
};

struct PlannedRun {
  std::string strategy;
  std::size_t terminals = 0;
  double premium_share = 0;
  std::size_t repetition = 1;

  friend bool operator==(const PlannedRun&, const PlannedRun&) = default;
};

// Every run of the grid, in random order: repetition after repetition, within it the configurations in random
// order, and at each the strategies, one behind the other, in random order. What changes slowly about a
// machine then falls on all strategies alike, and those that are compared are close together in time. As many
// whole repetitions as there was time for are a whole experiment.
std::vector<PlannedRun> run_order(const Grid& grid);

}  // namespace sluice::bench
