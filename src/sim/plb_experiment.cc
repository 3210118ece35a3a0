#include "sim/plb_experiment.h"

#include <algorithm>

#include "sluice/stats/comparison.h"

#include "base/assert.h"

namespace sluice::sim {
namespace {

PlbComparison comparison(const PlbRow& a, const PlbRow& b, std::size_t which, Metric metric) {
  const auto& x = metric == Metric::Median ? a.median[which] : a.p95[which];
  const auto& y = metric == Metric::Median ? b.median[which] : b.p95[which];
  PlbComparison out{a.sessions, a.premium_share, which, metric, 0, 1, 1, stats::hedges_g(x, y)};
  if (stats::mean(y) > 0) out.change = stats::mean(x) / stats::mean(y) - 1;
  if (const auto test = stats::welch(x, y)) out.p = test->p;
  return out;
}

}  // namespace

PlbExperiment::PlbExperiment(const PlbPlan& plan) : plan_(plan) {
  SLUICE_ASSERT(plan.runs >= 2);
  for (const double sessions : plan.sessions)
    for (const double share : plan.premium_shares)
      for (std::size_t s = 0; s < plan.strategies.size(); ++s)
        cells_.push_back({sessions, share, s});
  outcomes_.resize(cells_.size(), plan.runs);
}

void PlbExperiment::run(std::size_t index) {
  const Cell& cell = cells_[index / plan_.runs];
  PlbWorkload workload = plan_.workload;
  workload.sessions = cell.sessions;
  workload.premium_share = cell.premium_share;
  workload.seed = derived_seed(plan_.seed, index % plan_.runs);
  outcomes_[index] = sim::run(workload, plan_.strategies[cell.strategy]);
}

std::vector<PlbRow> PlbExperiment::rows() const {
  std::vector<PlbRow> rows;
  for (std::size_t c = 0; c < cells_.size(); ++c) {
    PlbRow& row = rows.emplace_back();
    row.sessions = cells_[c].sessions;
    row.premium_share = cells_[c].premium_share;
    row.strategy = plan_.strategies[cells_[c].strategy].name;
    for (std::size_t r = 0; r < plan_.runs; ++r) {
      const PlbOutcome& out = outcomes_.of(c, r);
      for (std::size_t k = 0; k < kClassCount; ++k) {
        row.mean[k].push_back(out.classes[k].mean);
        row.median[k].push_back(out.classes[k].median);
        row.p95[k].push_back(out.classes[k].p95);
      }
      row.all_mean.push_back(out.all.mean);
      row.all_median.push_back(out.all.median);
      row.utilization.push_back(out.mean_utilization);
      row.utilization_cv.push_back(out.utilization_cv);
      row.borrowings.push_back(static_cast<double>(out.borrowings));
      row.returns.push_back(static_cast<double>(out.returns));
    }
  }
  return rows;
}

const PlbRow* row_like(const std::vector<PlbRow>& rows, const PlbRow& like, std::string_view strategy) {
  for (const PlbRow& row : rows)
    if (row.sessions == like.sessions && row.premium_share == like.premium_share && row.strategy == strategy)
      return &row;
  return nullptr;
}

std::string_view metric_name(Metric metric) noexcept {
  return metric == Metric::Median ? "median" : "p95";
}

std::vector<PlbComparison> compare(const std::vector<PlbRow>& rows, std::string_view strategy,
                                   std::string_view baseline) {
  std::vector<PlbComparison> out;
  for (std::size_t which = 0; which < kClassCount; ++which)
    for (const Metric metric : {Metric::Median, Metric::P95}) {
      const std::size_t first = out.size();
      std::vector<double> p;
      for (const PlbRow& row : rows) {
        if (row.strategy != strategy) continue;
        const PlbRow* const other = row_like(rows, row, baseline);
        if (other == nullptr) continue;
        out.push_back(comparison(row, *other, which, metric));
        p.push_back(out.back().p);
      }
      const std::vector<double> adjusted = stats::holm(p);
      for (std::size_t i = 0; i < adjusted.size(); ++i)
        out[first + i].p_holm = adjusted[i];
    }
  return out;
}

Table plb_table(const std::vector<PlbRow>& rows) {
  Table table({"sessions", "premium", "strategy", "P mean", "P median", "P p95", "F mean", "F median",
               "F p95", "all mean", "u", "CV(u)", "borrowed", "returned"});
  for (const PlbRow& row : rows) {
    std::vector<std::string> cells = {digits(row.sessions), digits(row.premium_share), row.strategy};
    for (std::size_t k = 0; k < kClassCount; ++k)
      for (const auto* values : {&row.mean[k], &row.median[k], &row.p95[k]})
        cells.push_back(digits(stats::mean(*values)));
    for (const auto* values :
         {&row.all_mean, &row.utilization, &row.utilization_cv, &row.borrowings, &row.returns})
      cells.push_back(digits(stats::mean(*values), 3));
    table.add(cells);
  }
  return table;
}

Table comparison_table(const std::vector<PlbComparison>& comparisons) {
  Table table({"sessions", "premium", "class", "value", "change", "p", "p (Holm)", "Hedges g"});
  for (const PlbComparison& c : comparisons)
    table.add({digits(c.sessions), digits(c.premium_share), c.which == 0 ? "premium" : "freemium",
               std::string(metric_name(c.metric)), percent(c.change), digits(c.p, 2), digits(c.p_holm, 2),
               c.effect ? digits(*c.effect, 3) : ""});
  return table;
}

Table plb_csv(const std::vector<PlbRow>& rows) {
  Table table({"sessions", "premium_share", "strategy", "run", "premium_mean", "premium_median",
               "premium_p95", "freemium_mean", "freemium_median", "freemium_p95", "all_mean", "all_median",
               "utilization", "utilization_cv", "borrowings", "returns"});
  for (const PlbRow& row : rows)
    for (std::size_t r = 0; r < row.all_mean.size(); ++r) {
      std::vector<std::string> cells = {digits(row.sessions, 8), digits(row.premium_share, 8), row.strategy,
                                        std::to_string(r + 1)};
      for (std::size_t k = 0; k < kClassCount; ++k)
        for (const auto* values : {&row.mean[k], &row.median[k], &row.p95[k]})
          cells.push_back(digits((*values)[r], 8));
      for (const auto* values : {&row.all_mean, &row.all_median, &row.utilization, &row.utilization_cv,
                                 &row.borrowings, &row.returns})
        cells.push_back(digits((*values)[r], 8));
      table.add(cells);
    }
  return table;
}

}  // namespace sluice::sim
