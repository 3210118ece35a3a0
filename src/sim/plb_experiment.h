#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/plb_model.h"
#include "sim/run_outcomes.h"
#include "sim/table.h"

namespace sluice::sim {

struct PlbPlan {
  PlbWorkload workload;  // its sessions, share and seed are replaced by those below
  std::vector<double> sessions = {200, 600, 1000, 1400, 1800};
  std::vector<double> premium_shares = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9};
  std::vector<Strategy> strategies = paper_strategies();
  std::size_t runs = 10;  // per configuration, 2 or more
  std::uint64_t seed = 1;
};

// What one strategy did in one configuration: a value per run of everything that is compared.
struct PlbRow {
  double sessions = 0, premium_share = 0;
  std::string strategy;
  std::vector<double> mean[kClassCount], median[kClassCount], p95[kClassCount];
  std::vector<double> all_mean, all_median, utilization, utilization_cv, borrowings, returns;
};

// What `strategy` did in the configuration of `like`, or null.
const PlbRow* row_like(const std::vector<PlbRow>&, const PlbRow& like, std::string_view strategy);

// As AssignmentExperiment: independent runs, threads as the caller likes.
class PlbExperiment {
 public:
  explicit PlbExperiment(const PlbPlan&);

  std::size_t run_count() const noexcept { return outcomes_.size(); }
  void run(std::size_t index);
  std::uint64_t event_count() const noexcept { return outcomes_.event_count(); }
  std::vector<PlbRow> rows() const;  // after all runs

 private:
  struct Cell {
    double sessions, premium_share;
    std::size_t strategy;
  };

  PlbPlan plan_;
  std::vector<Cell> cells_;
  RunOutcomes<PlbOutcome> outcomes_;
};

enum class Metric { Median, P95 };
std::string_view metric_name(Metric) noexcept;  // "median", "p95"

// Two strategies in one configuration, by Welch's test on the values of the runs: the points of a volcano
// plot.
struct PlbComparison {
  double sessions = 0, premium_share = 0;
  std::size_t which = 0;  // class: 0 Premium, 1 Freemium
  Metric metric = Metric::Median;
  double change = 0;             // mean of the first over mean of the second, less 1: negative is quicker
  double p = 1, p_holm = 1;      // p_holm: among all comparisons of the same class and metric
  std::optional<double> effect;  // Hedges' g
};
// In all configurations that have both.
std::vector<PlbComparison> compare(const std::vector<PlbRow>&, std::string_view strategy,
                                   std::string_view baseline);

Table plb_table(const std::vector<PlbRow>&);                // means over runs
Table comparison_table(const std::vector<PlbComparison>&);  // all of them
Table plb_csv(const std::vector<PlbRow>&);                  // a line per configuration, strategy and run

}  // namespace sluice::sim
