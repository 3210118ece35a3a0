#include <iostream>
#include <map>
#include <memory>
#include <string>

#include "cli/sim_commands.h"
#include "cli/sim_runs.h"
#include "sim/assignment_experiment.h"

namespace sluice::cli {
namespace {

struct Asked {
  sim::AssignmentPlan plan;
  RunOptions how;
  bool formulas = false;
};

int simulate(Asked asked) {
  if (asked.plan.size_max <= asked.plan.mean) {
    std::cerr << "sluice sim assignment: --max must be above --mean\n";
    return kUsage;
  }
  if (asked.formulas) asked.plan.runs = 0;
  sim::AssignmentExperiment experiment(asked.plan);
  run_all(
      experiment.run_count(), [&](std::size_t index) { experiment.run(index); }, asked.how);
  const auto rows = experiment.rows();
  write_csv(asked.how, sim::assignment_csv(rows).csv());
  std::cout << sim::assignment_table(rows).text() << std::flush;
  return std::cout ? kSuccess : kFailure;
}

}  // namespace

void add_sim_assignment(CLI::App& parent, Action& action) {
  CLI::App* command =
      parent.add_subcommand("assignment", "Hosts and the rules that give each task one of them");
  command->footer(
      "Tasks with bounded Pareto sizes arrive in a Poisson stream. Waiting is response time less size, "
      "slowdown is\n"
      "waiting over size; both are means over tasks with the confidence interval of the runs, beside the "
      "exact\n"
      "formula where there is one. The last columns say how many times better than PS a rule is.\n"
      "Where --alpha is near 1 and --max large, no simulation converges: use --formulas there.");
  const auto asked = std::make_shared<Asked>();
  sim::AssignmentPlan& plan = asked->plan;
  std::map<std::string, sim::Rule> rules;
  for (const sim::Rule rule : sim::kRules)
    rules.emplace(sim::rule_name(rule), rule);
  command->add_option("--hosts", plan.hosts, "Numbers of hosts")
      ->delimiter(',')
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  command->add_option("--alpha", plan.alphas, "Tails of the sizes: the smaller, the heavier")
      ->delimiter(',')
      ->check(CLI::Range(0.1, 10.0))
      ->capture_default_str();
  command->add_option("--load", plan.loads, "Utilizations of the whole")
      ->delimiter(',')
      ->check(CLI::Range(0.01, 0.99))
      ->capture_default_str();
  command
      ->add_option(
          "--policy", plan.rules,
          "Rules: random, round_robin, least_work_left, shortest_queue, ps, sita_e, sita_v; default all")
      ->delimiter(',')
      ->transform(CLI::Transformer(rules))
      ->type_name("NAME");
  command->add_option("--mean", plan.mean, "Mean size")->check(CLI::Range(1e-9, 1e12))->capture_default_str();
  command->add_option("--max", plan.size_max, "Largest size")
      ->check(CLI::Range(1e-9, 1e15))
      ->capture_default_str();
  command->add_option("--jobs", plan.jobs, "Tasks per run, after a tenth more to warm up")
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
