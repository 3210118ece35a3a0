#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>
#include <vector>

#include "sluice/stats/interval.h"
#include "sluice/stats/mg1.h"

#include "sim/run_outcomes.h"
#include "sim/stream_plan.h"
#include "sim/table.h"

namespace sluice::sim {

// Rules that assign tasks to hosts: sources in sluice/stats/sita.h. Every host serves first come, first
// served, but under Ps, where tasks are split at random and each host shares its processor. SitaE and SitaV
// have the cutoffs of the law, which the formulas are about. SitaERouter and SitaVRouter are what the router
// does: hosts are the replicas of a pool with a slot each, behind its own queue, and policy::SizeIntervals
// learns from what arrives who takes what.
enum class Rule {
  Random,
  RoundRobin,
  LeastWorkLeft,
  JoinShortestQueue,
  Ps,
  SitaE,
  SitaV,
  SitaERouter,
  SitaVRouter
};
inline constexpr Rule kRules[] = {
    Rule::Random, Rule::RoundRobin, Rule::LeastWorkLeft, Rule::JoinShortestQueue, Rule::Ps,
    Rule::SitaE,  Rule::SitaV,      Rule::SitaERouter,   Rule::SitaVRouter};
std::string_view rule_name(Rule) noexcept;  // "random", "round_robin", ..., "sita_e", "sita_e_router", ...

struct AssignmentPlan : StreamPlan {
  std::vector<std::size_t> hosts = {2, 4, 8};
  std::vector<Rule> rules = {std::begin(kRules), std::end(kRules)};
};

// What one rule did at one point, over all runs.
struct AssignmentRow {
  double mean_size = 0, alpha = 0, load = 0;
  std::size_t hosts = 0;
  Rule rule = Rule::Random;
  // Means and variances by formula, where there is an exact one; nothing is known of the variances of Ps.
  std::optional<stats::JobMeans> formula;
  std::optional<stats::JobMoments> formula_moments;
  std::vector<double> cutoffs;
  // Means over runs with their confidence intervals; nothing without runs.
  std::optional<stats::Interval> waiting, slowdown, waiting_deviation, slowdown_deviation;
};

// All rules at all points, run after run. The runs are independent: run() may be called for different indexes
// by different threads, in any order, and the rows come out the same. A run's jobs are those of the same run
// of every other rule at the same load and alpha.
class AssignmentExperiment {
 public:
  explicit AssignmentExperiment(const AssignmentPlan&);

  std::size_t run_count() const noexcept { return outcomes_.size(); }
  void run(std::size_t index);
  std::uint64_t event_count() const noexcept { return outcomes_.event_count(); }
  // After all runs.
  std::vector<AssignmentRow> rows() const;

 private:
  struct Outcome {
    double waiting = 0, slowdown = 0, waiting_deviation = 0, slowdown_deviation = 0;
    std::uint64_t events = 0;
  };

  AssignmentPlan plan_;
  std::vector<AssignmentRow> cells_;
  RunOutcomes<Outcome> outcomes_;
};

// With the ratios to PS by formula: what the papers compare with.
Table assignment_table(const std::vector<AssignmentRow>&);
Table assignment_csv(const std::vector<AssignmentRow>&);  // every number, with 8 digits

}  // namespace sluice::sim
