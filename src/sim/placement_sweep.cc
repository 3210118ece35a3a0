#include "sim/placement_sweep.h"

#include "base/assert.h"

namespace sluice::sim {
namespace {

using placement::Millis;
using placement::Policy;

placement::Line line_of(const PlacementPlan& plan, const SweepHost& host, Policy policy) {
  const placement::RouteInputs none{.n_serial = 0, .upstream = plan.upstream};
  return {placement::terms(policy, none, host.inputs).total(), host.inputs.sql.value_or(Millis{})};
}

SweepHost host_of(std::string name, double path, double zero_calls, double sql) {
  SweepHost host;
  host.name = std::move(name);
  host.inputs.path = Millis(path);
  host.inputs.sql = Millis(sql);
  host.inputs.residual = placement::residual(Millis(zero_calls), Millis(path), 0, Millis(sql));
  return host;
}

}  // namespace

PlacementPlan published_sweep() {
  PlacementPlan plan;
  plan.hosts = {host_of("A", 0.500, 1.044, 0.400), host_of("B", 1.210, 1.368, 0.200)};
  return plan;
}

std::vector<SweepRow> sweep(const PlacementPlan& plan) {
  std::vector<placement::HostInputs> hosts;
  for (const SweepHost& host : plan.hosts)
    hosts.push_back(host.inputs);
  std::vector<SweepRow> rows;
  for (const double calls : plan.calls) {
    const placement::RouteInputs route{.n_serial = calls, .upstream = plan.upstream};
    SweepRow& row = rows.emplace_back();
    row.calls = calls;
    for (const placement::HostInputs& host : hosts)
      row.score.push_back(placement::terms(Policy::Profiled, route, host).total());
    const auto pick = [&](Policy policy) {
      const auto picked = placement::choose(policy, route, hosts);
      SLUICE_ASSERT(picked.has_value());
      return *picked;
    };
    row.user_first = pick(Policy::UserFirst);
    row.network_only = pick(Policy::NetworkOnly);
    row.profiled = pick(Policy::Profiled);
    row.lost = row.score[row.network_only] - row.score[row.profiled];
  }
  return rows;
}

std::vector<Crossover> crossovers(const PlacementPlan& plan) {
  std::vector<Crossover> out;
  for (std::size_t near = 0; near < plan.hosts.size(); ++near)
    for (std::size_t far = 0; far < plan.hosts.size(); ++far) {
      const SweepHost &a = plan.hosts[near], &b = plan.hosts[far];
      const auto path = [](const SweepHost& host) { return host.inputs.path.value_or(Millis{}); };
      if (near == far || path(a) > path(b) || (path(a) == path(b) && near > far)) continue;
      const auto at = [&](Policy policy) {
        return placement::crossover(line_of(plan, a, policy), line_of(plan, b, policy));
      };
      out.push_back({near, far, at(Policy::NetworkOnly), at(Policy::Profiled)});
    }
  return out;
}

Table sweep_table(const PlacementPlan& plan, const std::vector<SweepRow>& rows) {
  std::vector<std::string> header = {"calls"};
  for (const SweepHost& host : plan.hosts)
    header.push_back(host.name + " ms");
  for (const char* name : {"user_first", "network_only", "profiled", "lost ms"})
    header.emplace_back(name);
  Table table(header);
  for (const SweepRow& row : rows) {
    std::vector<std::string> cells = {digits(row.calls)};
    for (const Millis score : row.score)
      cells.push_back(digits(score.count()));
    for (const std::size_t picked : {row.user_first, row.network_only, row.profiled})
      cells.push_back(plan.hosts[picked].name);
    cells.push_back(digits(row.lost.count(), 3));
    table.add(cells);
  }
  return table;
}

Table crossover_table(const PlacementPlan& plan, const std::vector<Crossover>& crossovers) {
  Table table({"near", "far", "network_only", "profiled"});
  const auto calls = [](const std::optional<double>& n) { return n ? digits(*n, 3) : std::string("never"); };
  for (const Crossover& c : crossovers)
    table.add({plan.hosts[c.near].name, plan.hosts[c.far].name, calls(c.network_only), calls(c.profiled)});
  return table;
}

}  // namespace sluice::sim
