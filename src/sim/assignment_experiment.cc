#include "sim/assignment_experiment.h"

#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <string>

#include "sluice/stats/sita.h"

#include "base/assert.h"
#include "sim/job_stream.h"
#include "sim/limited_server.h"

namespace sluice::sim {
namespace {

double arrival_rate(const AssignmentPlan& plan, const AssignmentRow& cell) {
  return cell.load * static_cast<double>(cell.hosts) / plan.mean;
}

// Cutoffs and formula, where the rule has them.
void analyse(const AssignmentPlan& plan, AssignmentRow& cell) {
  const stats::BoundedPareto law = plan.law(cell.alpha);
  const double lambda = arrival_rate(plan, cell), per_host = cell.load / plan.mean;
  switch (cell.rule) {
    case Rule::Random:
      cell.formula_moments = stats::mg1_fcfs(law, per_host);
      break;
    case Rule::Ps:
      cell.formula = stats::mg1_ps(law, per_host);
      return;
    case Rule::SitaE:
    case Rule::SitaV:
      cell.cutoffs =
          cell.rule == Rule::SitaE
              ? stats::sita_e_cutoffs(law, cell.hosts)
              : stats::sita_cutoffs(law, lambda, cell.hosts).value_or(stats::sita_e_cutoffs(law, cell.hosts));
      cell.formula_moments = stats::analyse_sita(law, lambda, cell.cutoffs).jobs;
      break;
    case Rule::RoundRobin:
    case Rule::LeastWorkLeft:
    case Rule::JoinShortestQueue:
    case Rule::SitaERouter:
    case Rule::SitaVRouter:
      return;
  }
  cell.formula = cell.formula_moments->mean;
}

std::optional<policy::ReplicaOrder> router_order(Rule rule) {
  if (rule == Rule::SitaERouter) return policy::ReplicaOrder::SitaE;
  if (rule == Rule::SitaVRouter) return policy::ReplicaOrder::SitaV;
  return std::nullopt;
}

std::unique_ptr<Dispatcher> dispatcher_of(const AssignmentRow& cell, std::uint64_t seed) {
  switch (cell.rule) {
    case Rule::Random:
    case Rule::Ps:
    case Rule::SitaERouter:  // there is one server
    case Rule::SitaVRouter:
      return std::make_unique<RandomDispatcher>(seed);
    case Rule::RoundRobin:
      return std::make_unique<PolicyDispatcher>(policy::PolicyKind::RoundRobin, cell.hosts);
    case Rule::JoinShortestQueue:
      return std::make_unique<PolicyDispatcher>(policy::PolicyKind::LeastLoaded, cell.hosts);
    case Rule::LeastWorkLeft:
      return std::make_unique<LeastWorkDispatcher>();
    case Rule::SitaE:
    case Rule::SitaV:
      return std::make_unique<SitaDispatcher>(cell.cutoffs);
  }
  return nullptr;
}

// The hosts; those behind a router are one server.
std::vector<std::unique_ptr<Server>> servers_of(const AssignmentRow& cell) {
  std::vector<std::unique_ptr<Server>> servers;
  if (const auto order = router_order(cell.rule)) {
    servers.push_back(std::make_unique<LimitedServer>(
        LimitedServer::Settings{.active_max = 1, .replicas = cell.hosts, .within_pool = *order}));
    return servers;
  }
  for (std::size_t i = 0; i < cell.hosts; ++i) {
    if (cell.rule == Rule::Ps)
      servers.push_back(std::make_unique<SharingServer>(SharingServer::Settings{}));
    else
      servers.push_back(std::make_unique<LimitedServer>(LimitedServer::Settings{.active_max = 1}));
  }
  return servers;
}

}  // namespace

std::string_view rule_name(Rule rule) noexcept {
  switch (rule) {
    case Rule::Random:
      return "random";
    case Rule::RoundRobin:
      return "round_robin";
    case Rule::LeastWorkLeft:
      return "least_work_left";
    case Rule::JoinShortestQueue:
      return "shortest_queue";
    case Rule::Ps:
      return "ps";
    case Rule::SitaE:
      return "sita_e";
    case Rule::SitaV:
      return "sita_v";
    case Rule::SitaERouter:
      return "sita_e_router";
    case Rule::SitaVRouter:
      return "sita_v_router";
  }
  return "?";
}

AssignmentExperiment::AssignmentExperiment(const AssignmentPlan& plan) : plan_(plan) {
  SLUICE_ASSERT(plan.runs != 1);
  for (const double alpha : plan.alphas)
    for (const double load : plan.loads)
      for (const std::size_t hosts : plan.hosts)
        for (const Rule rule : plan.rules) {
          AssignmentRow& cell = cells_.emplace_back();
          cell.mean_size = plan.mean;
          cell.alpha = alpha;
          cell.load = load;
          cell.hosts = hosts;
          cell.rule = rule;
          analyse(plan, cell);
        }
  outcomes_.resize(cells_.size(), plan.runs);
}

void AssignmentExperiment::run(std::size_t index) {
  const AssignmentRow& cell = cells_[index / plan_.runs];
  const std::uint64_t seed = derived_seed(plan_.seed, index % plan_.runs);
  const stats::BoundedPareto law = plan_.law(cell.alpha);
  const auto servers = servers_of(cell);
  const auto dispatcher = dispatcher_of(cell, derived_seed(seed, 9));
  const StreamOutcome out = sim::run({.sizes = law,
                                      .lambda = arrival_rate(plan_, cell),
                                      .jobs = plan_.jobs,
                                      .warm_up = plan_.jobs / 10,
                                      .seed = seed},
                                     servers, *dispatcher);
  outcomes_[index] = {out.waiting.mean(), out.slowdown.mean(), std::sqrt(out.waiting.population_variance()),
                      std::sqrt(out.slowdown.population_variance()), out.events};
}

std::vector<AssignmentRow> AssignmentExperiment::rows() const {
  std::vector<AssignmentRow> rows = cells_;
  if (plan_.runs == 0) return rows;
  for (std::size_t c = 0; c < rows.size(); ++c) {
    const auto interval = [&](double Outcome::*value) {
      return outcomes_.interval(c, value, plan_.confidence);
    };
    rows[c].waiting = interval(&Outcome::waiting);
    rows[c].slowdown = interval(&Outcome::slowdown);
    rows[c].waiting_deviation = interval(&Outcome::waiting_deviation);
    rows[c].slowdown_deviation = interval(&Outcome::slowdown_deviation);
  }
  return rows;
}

namespace {

double nan_or(const std::optional<double>& value) {
  return value.value_or(std::numeric_limits<double>::quiet_NaN());
}

// What the row says of a mean: the formula where there is one, else the simulation.
double best(const std::optional<double>& formula, const std::optional<stats::Interval>& simulated) {
  return formula ? *formula : simulated ? simulated->estimate : nan_or(std::nullopt);
}

std::optional<double> part(const std::optional<stats::JobMeans>& means, double stats::JobMeans::*which) {
  if (!means) return std::nullopt;
  return (*means).*which;
}

}  // namespace

Table assignment_table(const std::vector<AssignmentRow>& rows) {
  Table table({"alpha", "load", "hosts", "policy", "waiting", "formula", "slowdown", "formula",
               "sd(slowdown)", "formula", "ps/waiting", "ps/slowdown"});
  for (const AssignmentRow& row : rows) {
    const auto waiting = part(row.formula, &stats::JobMeans::waiting);
    const auto slowdown = part(row.formula, &stats::JobMeans::slowdown);
    // PS by formula: E[S] = rho / (1 - rho); its waiting time is that times the mean size.
    const double ps_slowdown = row.load / (1 - row.load);
    table.add({digits(row.alpha), digits(row.load), std::to_string(row.hosts),
               std::string(rule_name(row.rule)), estimate(row.waiting), waiting ? digits(*waiting) : "-",
               estimate(row.slowdown), slowdown ? digits(*slowdown) : "-", estimate(row.slowdown_deviation),
               row.formula_moments ? digits(std::sqrt(row.formula_moments->slowdown_variance)) : "-",
               digits(ps_slowdown * row.mean_size / best(waiting, row.waiting), 3),
               digits(ps_slowdown / best(slowdown, row.slowdown), 3)});
  }
  return table;
}

Table assignment_csv(const std::vector<AssignmentRow>& rows) {
  Table table({"alpha", "load", "hosts", "policy", "waiting", "waiting_low", "waiting_high",
               "waiting_formula", "slowdown", "slowdown_low", "slowdown_high", "slowdown_formula",
               "waiting_sd", "waiting_sd_formula", "slowdown_sd", "slowdown_sd_formula", "cutoffs"});
  for (const AssignmentRow& row : rows) {
    std::vector<std::string> cells = {digits(row.alpha, 8), digits(row.load, 8), std::to_string(row.hosts),
                                      std::string(rule_name(row.rule))};
    const auto add = [&](double value) { cells.push_back(digits(value, 8)); };
    const auto add_interval = [&](const std::optional<stats::Interval>& in) {
      const double nothing = nan_or(std::nullopt);
      add(in ? in->estimate : nothing);
      add(in ? in->low : nothing);
      add(in ? in->high : nothing);
    };
    const auto& moments = row.formula_moments;
    add_interval(row.waiting);
    add(nan_or(part(row.formula, &stats::JobMeans::waiting)));
    add_interval(row.slowdown);
    add(nan_or(part(row.formula, &stats::JobMeans::slowdown)));
    add(row.waiting_deviation ? row.waiting_deviation->estimate : nan_or(std::nullopt));
    add(moments ? std::sqrt(moments->waiting_variance) : nan_or(std::nullopt));
    add(row.slowdown_deviation ? row.slowdown_deviation->estimate : nan_or(std::nullopt));
    add(moments ? std::sqrt(moments->slowdown_variance) : nan_or(std::nullopt));
    std::string cutoffs;
    for (const double cutoff : row.cutoffs)
      cutoffs += (cutoffs.empty() ? "" : " ") + digits(cutoff, 8);
    cells.push_back(cutoffs);
    table.add(cells);
  }
  return table;
}

}  // namespace sluice::sim
