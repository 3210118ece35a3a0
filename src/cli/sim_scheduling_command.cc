#include <iostream>
#include <memory>

#include "cli/sim_commands.h"
#include "cli/sim_runs.h"
#include "sim/scheduling_experiment.h"

namespace sluice::cli {
namespace {

struct Asked {
  sim::SchedulingPlan plan;
  RunOptions how;
  bool formulas = false;
};

int simulate(Asked asked) {
  if (asked.plan.size_max <= asked.plan.mean) {
    std::cerr << "sluice sim scheduling: --max must be above --mean\n";
    return kUsage;
  }
  if (asked.formulas) asked.plan.runs = 0;
  sim::SchedulingExperiment experiment(asked.plan);
  run_all(
      experiment.run_count(), [&](std::size_t index) { experiment.run(index); }, asked.how);
  const auto rows = experiment.rows();
  write_csv(asked.how, sim::scheduling_csv(rows).csv());
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
  const auto asked = std::make_shared<Asked>();
  sim::SchedulingPlan& plan = asked->plan;
  command->add_option("--alpha", plan.alphas, "Tails of the sizes: the smaller, the heavier")
      ->delimiter(',')
      ->check(CLI::Range(0.1, 10.0))
      ->capture_default_str();
  command->add_option("--load", plan.loads, "Utilizations")
      ->delimiter(',')
      ->check(CLI::Range(0.01, 0.99))
      ->capture_default_str();
  command->add_option("--mean", plan.mean, "Mean size")->check(CLI::Range(1e-9, 1e12))->capture_default_str();
  command->add_option("--max", plan.size_max, "Largest size")
      ->check(CLI::Range(1e-9, 1e15))
      ->capture_default_str();
  command->add_option("--quantum", plan.quantum, "Chunk of shortest_connection_first")
      ->check(CLI::Range(1e-12, 1e15))
      ->capture_default_str();
  command->add_option("--jobs", plan.jobs, "Connections per run, after a tenth more to warm up")
      ->check(CLI::Range(1'000, 100'000'000))
      ->capture_default_str();
  command->add_option("--runs", plan.runs, "Runs per row")
      ->check(CLI::Range(2, 1'000))
      ->capture_default_str();
  command->add_option("--seed", plan.seed, "Seed")->capture_default_str();
  command->add_option("--confidence", plan.confidence, "Confidence level of the intervals")
      ->check(CLI::Range(0.5, 0.9999))
      ->capture_default_str();
  command->add_flag("--formulas", asked->formulas, "No simulation: exact formulas alone");
  add_run_options(*command, asked->how);
  command->callback([&action, asked] { action = [asked] { return simulate(*asked); }; });
}

}  // namespace sluice::cli
