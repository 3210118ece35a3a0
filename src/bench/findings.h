#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "sluice/stats/interval.h"

#include "bench/run_info.h"
#include "sim/plb_experiment.h"

namespace sluice::bench {

// Runs that may be compared: of one workload and scale, budget, pool mode, duration, lifetimes and pauses.
struct Group {
  std::string title;  // "tpch at scale 0.01, 5 replicas, session mode"
  std::array<std::string, kClassCount> class_names;
  // A row per T, share and strategy, in that order; within it a value per run, by repetition. A class without
  // a query in some run of a row has no values there: its means would be of fewer runs than the row's.
  std::vector<sim::PlbRow> rows;
  std::vector<std::vector<std::size_t>> repetitions;  // of each row's runs
  bool has_utilization = false;                       // in all of its runs
  std::size_t errors = 0, late = 0;                   // queries, over all of its runs
};
std::vector<Group> groups_of(const std::vector<RunInfo>& runs);

// A strategy against the baseline in one configuration: Welch's test, Holm's correction and Hedges' g as for
// simulated runs, and how large the difference is.
struct Finding {
  std::string strategy;
  sim::PlbComparison test;
  bool repeated = false;       // both have two runs or more: without that there is no test and no interval
  stats::Interval difference;  // of the medians of the runs' values, seconds: bootstrap, 95%
  std::optional<stats::Interval>
      paired;  // change of the value, from runs of the same repetition, which had the same
               // sessions: Student's t on the logarithms of their ratios, 95%
};
std::vector<Finding> findings_of(const Group& group, const std::string& baseline);

}  // namespace sluice::bench
