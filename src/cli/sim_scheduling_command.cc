#include <iostream>
#include <memory>

#include "cli/sim_commands.h"
#include "cli/sim_runs.h"
#include "sim/reports.h"

namespace sluice::cli {
namespace {

struct SchedulingOptions {
  sim::SchedulingPlan plan;
  RunOptions how;
  bool formulas = false;
};

int simulate(SchedulingOptions asked) {
  if (!sizes_possible(asked.plan, "sluice sim scheduling")) return kUsage;
  if (asked.formulas) asked.plan.runs = 0;
  const auto rows = rows_of<sim::SchedulingExperiment>(asked.plan, asked.how);
  write_csv(asked.how, sim::scheduling_csv(rows).csv());
  write_report(asked.how, [&](const std::string& command) { return sim::scheduling_report(rows, command); });
  std::cout << sim::scheduling_table(rows).text() << std::flush;
  return std::cout ? kSuccess : kFailure;
}

}  // namespace

void add_sim_scheduling(CLI::App& parent, Action& action) {
  CLI::App* command = parent.add_subcommand("scheduling", "One server and which connection it serves first");
  command->footer(
      "Connections with bounded Pareto sizes arrive in a Poisson stream. ps/response says how many times "
      "shorter\n"
      "the mean response time is than under PS. The last columns are response over size of the largest\n"
      "connections: of the largest 0.1% as simulated, and of the largest size there is by formula.");
  const auto asked = std::make_shared<SchedulingOptions>();
  sim::SchedulingPlan& plan = asked->plan;
  command->add_option("--quantum", plan.quantum, "Chunk of shortest_connection_first")
      ->check(CLI::Range(1e-12, 1e15))
      ->capture_default_str();
  add_stream_options(*command, plan, asked->formulas, "Connections");
  add_run_options(*command, asked->how);
  command->callback([&action, asked] { action = [asked] { return simulate(*asked); }; });
}

}  // namespace sluice::cli
