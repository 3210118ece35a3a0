#include <iostream>
#include <map>
#include <memory>
#include <string>

#include "cli/sim_commands.h"
#include "cli/sim_runs.h"
#include "sim/reports.h"

namespace sluice::cli {
namespace {

struct AssignmentOptions {
  sim::AssignmentPlan plan;
  RunOptions how;
  bool formulas = false;
};

int simulate(AssignmentOptions asked) {
  if (!sizes_possible(asked.plan, "sluice sim assignment")) return kUsage;
  if (asked.formulas) asked.plan.runs = 0;
  const auto rows = rows_of<sim::AssignmentExperiment>(asked.plan, asked.how);
  write_csv(asked.how, sim::assignment_csv(rows).csv());
  write_report(asked.how, [&](const std::string& command) { return sim::assignment_report(rows, command); });
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
      "sita_e and sita_v have the cutoffs of the law; with _router the router's own code learns them from "
      "what "
      "arrives.\n"
      "Where --alpha is near 1 and --max large, no simulation converges: use --formulas there.");
  const auto asked = std::make_shared<AssignmentOptions>();
  sim::AssignmentPlan& plan = asked->plan;
  std::map<std::string, sim::Rule> rules;
  for (const sim::Rule rule : sim::kRules)
    rules.emplace(sim::rule_name(rule), rule);
  command->add_option("--hosts", plan.hosts, "Numbers of hosts")
      ->delimiter(',')
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  command
      ->add_option(
          "--policy", plan.rules,
          "Rules: random, round_robin, least_work_left, shortest_queue, ps, sita_e, sita_v, sita_e_router, "
          "sita_v_router; default all")
      ->delimiter(',')
      ->transform(CLI::Transformer(rules))
      ->type_name("NAME");
  add_stream_options(*command, plan, asked->formulas, "Tasks");
  add_run_options(*command, asked->how);
  command->callback([&action, asked] { action = [asked] { return simulate(*asked); }; });
}

}  // namespace sluice::cli
