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

// What the runs of a row did not serve, and how long sessions waited before anything was served to them.
struct Service {
  std::array<std::size_t, kClassCount> queries{},
      sessions{};                                       // that ended well; that could ask: over all runs
  std::array<Losses, kClassCount> lost, sessions_lost;  // over all runs
  std::array<std::vector<double>, kClassCount> waiting_mean, waiting_p95;  // a value per run
  // Whether one of the runs has a lower bound there.
  struct AtLeast {
    bool mean = false, median = false, p95 = false, waiting_mean = false, waiting_p95 = false;
  };
  std::array<AtLeast, kClassCount> at_least;
  bool all_mean_at_least = false;

  double lost_share(std::size_t class_index) const noexcept;           // of the measured queries; 0 of none
  double sessions_lost_share(std::size_t class_index) const noexcept;  // of the measured sessions; 0 of none
};

// Runs that may be compared: alike in all but strategy, T, share and repetition. That is, in workload with
// its digest and scale, budget, pool mode, times, timeouts, seed, in what is asked of the server beside the
// queries, in hosts and in the names of the classes.
struct Group {
  std::string title;  // "tpch at scale 0.01, 5 replicas, session mode", and what tells it from other groups
  std::array<std::string, kClassCount> class_names;
  // A row per T, share and strategy, in that order; within it a value per run, by repetition. A class without
  // a query in some run of a row has no values there: its means would be of fewer runs than the row's.
  std::vector<sim::PlbRow> rows;
  std::vector<Service> service;                       // of each row
  std::vector<std::vector<std::size_t>> repetitions;  // of each row's runs
  bool has_utilization = false;                       // in all of its runs
  std::vector<std::string> cpu_sources;               // of all runs' replicas, in words, each once, sorted
  bool whole_machine = false;                         // utilization 1 is the whole machine in one of them
  LateSummary late;                                   // over all of its runs
  std::size_t abandoned_open = 0;                     // queries, over all of its runs
};
std::vector<Group> groups_of(const std::vector<RunInfo>& runs);

// What keeps groups apart, as one line: "Kept apart, as they differ: seed (1, 2)". "" when there is one
// group.
std::string kept_apart(const std::vector<RunInfo>& runs);

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
  double lost = 0, baseline_lost = 0;                    // shares of the class's queries that were not served
  double sessions_lost = 0, baseline_sessions_lost = 0;  // ... of its sessions, that never could ask
  bool at_least = false, baseline_at_least = false;      // the value of some run is a lower bound
};
std::vector<Finding> findings_of(const Group& group, const std::string& baseline);

}  // namespace sluice::bench
