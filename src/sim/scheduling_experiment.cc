#include "sim/scheduling_experiment.h"

#include <cmath>
#include <limits>
#include <memory>

#include "sluice/stats/mg1.h"

#include "base/assert.h"
#include "sim/job_stream.h"
#include "sim/limited_server.h"
#include "sim/preemptive_server.h"

namespace sluice::sim {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kLargestShare = 0.001;

std::optional<SchedulingRow::Formula> formula_of(const SchedulingPlan& plan, const SchedulingRow& cell) {
  const stats::BoundedPareto law = plan.law(cell.alpha);
  const double lambda = cell.load / plan.mean, p = plan.size_max;
  switch (cell.schedule) {
    case Schedule::Fcfs: {
      const stats::JobMeans means = stats::mg1_fcfs(law, lambda).mean;
      return SchedulingRow::Formula{means.waiting + plan.mean, means.slowdown, (means.waiting + p) / p};
    }
    case Schedule::Ps: {
      const stats::JobMeans means = stats::mg1_ps(law, lambda);
      return SchedulingRow::Formula{means.waiting + plan.mean, means.slowdown, 1 + means.slowdown};
    }
    case Schedule::Srpt: {
      const stats::JobMeans means = stats::mg1_size_based(stats::SizeDiscipline::Srpt, law, lambda);
      const double largest = stats::mg1_response(stats::SizeDiscipline::Srpt, law, lambda, p);
      return SchedulingRow::Formula{means.waiting + plan.mean, means.slowdown, largest / p};
    }
    case Schedule::ShortestConnectionFirst:
      return std::nullopt;
  }
  return std::nullopt;
}

std::unique_ptr<Server> server_of(const SchedulingPlan& plan, Schedule schedule) {
  switch (schedule) {
    case Schedule::Fcfs:
      return std::make_unique<LimitedServer>(LimitedServer::Settings{.active_max = 1});
    case Schedule::Ps:
      return std::make_unique<SharingServer>(SharingServer::Settings{});
    case Schedule::ShortestConnectionFirst:
      return std::make_unique<PreemptiveServer>(PreemptiveOrder::ShortestRemaining, plan.quantum);
    case Schedule::Srpt:
      return std::make_unique<PreemptiveServer>(PreemptiveOrder::ShortestRemaining);
  }
  return nullptr;
}

}  // namespace

std::string_view schedule_name(Schedule schedule) noexcept {
  switch (schedule) {
    case Schedule::Fcfs:
      return "fcfs";
    case Schedule::Ps:
      return "ps";
    case Schedule::ShortestConnectionFirst:
      return "shortest_connection_first";
    case Schedule::Srpt:
      return "srpt";
  }
  return "?";
}

SchedulingExperiment::SchedulingExperiment(const SchedulingPlan& plan) : plan_(plan) {
  SLUICE_ASSERT(plan.runs != 1);
  for (const double alpha : plan.alphas)
    for (const double load : plan.loads)
      for (const Schedule schedule : kSchedules) {
        SchedulingRow& cell = cells_.emplace_back();
        cell.alpha = alpha;
        cell.load = load;
        cell.schedule = schedule;
        cell.ps_response = plan.mean / (1 - load);
        cell.formula = formula_of(plan, cell);
      }
  outcomes_.resize(cells_.size(), plan.runs);
}

void SchedulingExperiment::run(std::size_t index) {
  const SchedulingRow& cell = cells_[index / plan_.runs];
  const stats::BoundedPareto law = plan_.law(cell.alpha);
  const double large = law.quantile(1 - kLargestShare);
  std::vector<std::unique_ptr<Server>> server;
  server.push_back(server_of(plan_, cell.schedule));
  RandomDispatcher only(1);
  stats::Running largest;
  const StreamOutcome out = sim::run({.sizes = law,
                                      .lambda = cell.load / plan_.mean,
                                      .jobs = plan_.jobs,
                                      .warm_up = plan_.jobs / 10,
                                      .seed = derived_seed(plan_.seed, index % plan_.runs)},
                                     server, only, [&](const Job& job, double waiting) {
                                       if (job.size >= large) largest.add(1 + waiting / job.size);
                                     });
  outcomes_[index] = {out.waiting.mean() + out.size.mean(), out.slowdown.mean(), largest.mean(), out.events};
}

std::vector<SchedulingRow> SchedulingExperiment::rows() const {
  std::vector<SchedulingRow> rows = cells_;
  if (plan_.runs == 0) return rows;
  for (std::size_t c = 0; c < rows.size(); ++c) {
    const auto interval = [&](double Outcome::*value) {
      return outcomes_.interval(c, value, plan_.confidence);
    };
    rows[c].response = interval(&Outcome::response);
    rows[c].slowdown = interval(&Outcome::slowdown);
    rows[c].largest = interval(&Outcome::largest);
  }
  return rows;
}

Table scheduling_table(const std::vector<SchedulingRow>& rows) {
  Table table({"alpha", "load", "policy", "response", "formula", "ps/response", "slowdown", "formula",
               "largest 0.1%", "largest"});
  for (const SchedulingRow& row : rows) {
    const auto& formula = row.formula;
    const double response = formula ? formula->response : row.response ? row.response->estimate : kNan;
    table.add({digits(row.alpha), digits(row.load), std::string(schedule_name(row.schedule)),
               estimate(row.response), formula ? digits(formula->response) : "-",
               digits(row.ps_response / response, 3), estimate(row.slowdown),
               formula ? digits(formula->slowdown) : "-", estimate(row.largest),
               formula ? digits(formula->largest) : "-"});
  }
  return table;
}

Table scheduling_csv(const std::vector<SchedulingRow>& rows) {
  Table table({"alpha", "load", "policy", "response", "response_low", "response_high", "response_formula",
               "slowdown", "slowdown_low", "slowdown_high", "slowdown_formula", "largest_stretch",
               "largest_stretch_low", "largest_stretch_high", "largest_stretch_formula"});
  for (const SchedulingRow& row : rows) {
    std::vector<std::string> cells = {digits(row.alpha, 8), digits(row.load, 8),
                                      std::string(schedule_name(row.schedule))};
    const auto add = [&](const std::optional<stats::Interval>& in, double SchedulingRow::Formula::*formula) {
      cells.push_back(in ? digits(in->estimate, 8) : "");
      cells.push_back(in ? digits(in->low, 8) : "");
      cells.push_back(in ? digits(in->high, 8) : "");
      cells.push_back(row.formula ? digits((*row.formula).*formula, 8) : "");
    };
    add(row.response, &SchedulingRow::Formula::response);
    add(row.slowdown, &SchedulingRow::Formula::slowdown);
    add(row.largest, &SchedulingRow::Formula::largest);
    table.add(cells);
  }
  return table;
}

}  // namespace sluice::sim
