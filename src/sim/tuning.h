#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sluice/stats/interval.h"

#include "sim/replay.h"

namespace sluice::sim {

// A search by simulation for what serves a recorded load best.
// Score:  the sum over classes of price x mean response time / the same under the recorded policy, the prices
// adding
//         up to 1: 1 is as recorded, less is better. A class's price is `prefer` times that of the class
//         below it.
// Search: all of a grid over policies, pool splits, thresholds, watermarks and weights; then the neighbours
// of the
//         best of each policy, until none is better or `rounds` are over.
struct TunePlan {
  double cores = 1;
  double load = 1;
  double prefer = 2;
  std::size_t rounds = 3;
};

struct Tuned {
  ReplayPlan plan;
  ReplayOutcome outcome;
  double score = 0;
  std::vector<double> by_part;              // the score in each part of the time; empty: there is too little
  std::optional<stats::Interval> interval;  // of the score, by these; 95% for all that were tried together
};

// Runs run(0) to run(count - 1), in any order and by any thread.
using RunAll = std::function<void(std::size_t count, const std::function<void(std::size_t)>& run)>;

// The recorded configuration first, then the best; equal ones in the order of the search. Deterministic.
std::vector<Tuned> tune(const RecordedTrace&, const Demands&, const TunePlan&, const RunAll&);

// Ways to give each class replicas of its own. Of many some are tried, evenly spread.
struct TuningSplits {
  std::vector<std::vector<std::int64_t>> tried;
  double all = 0;
};
TuningSplits tuning_splits(const policy::PoolConfig&);

// The first stage's grid, without the recorded configuration.
std::vector<ReplayPlan> tuning_grid(const RecordedTrace&, const TunePlan&);

Table tuning_table(const std::vector<Tuned>&, std::size_t shown);

}  // namespace sluice::sim
