#include <iostream>
#include <memory>
#include <optional>
#include <string>

#include "calibration/calibration_file.h"
#include "cli/sim_commands.h"
#include "cli/sim_runs.h"
#include "sim/reports.h"

namespace sluice::cli {
namespace {

struct PlacementOptions {
  sim::PlacementPlan plan = sim::published_sweep();
  RunOptions how;
  std::string calibration, route;
  bool new_connections = false;
};

std::optional<placement::Millis> median_of(const std::optional<calibration::Measurement>& m) {
  return m ? std::optional(m->median) : std::nullopt;
}

// The hosts of one route of a calibration. Problems are printed; nullopt then.
std::optional<std::vector<sim::SweepHost>> hosts_of(const calibration::Calibration& known,
                                                    const PlacementOptions& asked) {
  const calibration::Route* const route = known.find_route(asked.route);
  const auto fail = [&](const std::string& why) {
    std::cerr << "sluice sim placement: " << asked.calibration << ": " << why << "\n";
    return std::nullopt;
  };
  if (route == nullptr) return fail("there is no route '" + asked.route + "'");
  if (!route->n_serial) return fail("N_serial of route '" + asked.route + "' is not known");
  std::vector<sim::SweepHost> hosts;
  for (const calibration::RouteOnHost& at : route->hosts) {
    const calibration::Host* const host = known.find_host(at.host);
    if (host == nullptr) return fail("host '" + at.host + "' was not measured");
    sim::SweepHost& out = hosts.emplace_back();
    out.name = at.host;
    out.inputs.path = median_of(host->health);
    out.inputs.connect = median_of(host->connect);
    out.inputs.client = out.inputs.connect;
    out.inputs.sql = at.sql ? at.sql : median_of(host->select_1);
    out.inputs.residual = calibration::residual_for(
        known, *route, at.host, *route->n_serial,
        at.sql ? calibration::SqlSource::Matrix : calibration::SqlSource::SelectOne);
    if (!out.inputs.path) return fail("the health page of '" + at.host + "' was not measured");
    if (!out.inputs.sql) return fail("SELECT 1 from '" + at.host + "' was not measured");
    if (!out.inputs.residual) return fail("the residual on '" + at.host + "' is not known");
    if (asked.new_connections && !out.inputs.connect)
      return fail("a connect to '" + at.host + "' was not measured");
  }
  if (hosts.size() < 2) return fail("route '" + asked.route + "' was measured on fewer than two hosts");
  return hosts;
}

int simulate(PlacementOptions asked) {
  if (!asked.calibration.empty()) {
    config::Problems problems;
    const auto known = calibration::load(asked.calibration, problems);
    for (const config::Problem& problem : problems)
      std::cerr << to_string(problem) << "\n";
    if (!known) return kFailure;
    auto hosts = hosts_of(*known, asked);
    if (!hosts) return kFailure;
    asked.plan.hosts = std::move(*hosts);
  }
  if (asked.new_connections) asked.plan.upstream = placement::UpstreamConnection::PerRequest;
  const auto rows = sim::sweep(asked.plan);
  const sim::Table table = sim::sweep_table(asked.plan, rows);
  write_csv(asked.how, table.csv());
  write_report(asked.how,
               [&](const std::string& command) { return sim::placement_report(asked.plan, rows, command); });
  std::cout << table.text() << "\nFar host wins with more calls than:\n"
            << sim::crossover_table(asked.plan, sim::crossovers(asked.plan)).text() << std::flush;
  return std::cout ? kSuccess : kFailure;
}

}  // namespace

void add_sim_placement(CLI::App& parent, Action& action) {
  CLI::App* command =
      parent.add_subcommand("placement", "Compute hosts that the placer picks by the number of serial calls");
  command->footer(
      "By the placer's own cost model. Without --calibration the published sweep: hosts A, near the user, "
      "and B,\n"
      "near the database. 'lost' is what network_only's choice costs more than profiled's.");
  const auto asked = std::make_shared<PlacementOptions>();
  CLI::Option* const file =
      command->add_option("--calibration", asked->calibration, "Calibration file that sluice calibrate wrote")
          ->type_name("FILE");
  CLI::Option* const route =
      command->add_option("--route", asked->route, "Route of the calibration whose residuals count");
  file->needs(route);
  route->needs(file);
  command->add_option("--calls", asked->plan.calls, "Numbers of calls one after the other")
      ->delimiter(',')
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
  command
      ->add_flag("--new-connections", asked->new_connections,
                 "Each request connects anew: TCP connects count")
      ->needs(file);
  command->add_option("--csv", asked->how.csv, "Write the table to this file")->type_name("FILE");
  command->add_option("--report", asked->how.report, "Write a page with charts to this file")
      ->type_name("FILE.html");
  command->callback([&action, asked] { action = [asked] { return simulate(*asked); }; });
}

}  // namespace sluice::cli
