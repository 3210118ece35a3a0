#include <iostream>
#include <memory>

#include "cli/commands.h"
#include "cli/sim_runs.h"
#include "cli/trace_input.h"
#include "sim/reports.h"
#include "sim/what_if.h"

namespace sluice::cli {
namespace {

struct TuneOptions {
  TraceOptions trace;
  RunOptions how;
  sim::TunePlan plan;
  std::size_t shown = 10;
};

int search(TuneOptions asked) {
  const auto input = read_checked_trace(asked.trace, "sluice tune");
  if (!input) return kFailure;
  asked.plan.cores = input->demands.cores;
  const auto tuned = sim::tune(input->trace, input->demands, asked.plan,
                               [&](std::size_t count, const std::function<void(std::size_t)>& run) {
                                 run_all(count, run, asked.how);
                               });
  const sim::Table whole = sim::tuning_table(tuned, tuned.size());
  write_csv(asked.how, whole.csv());
  write_report(asked.how, [&](const std::string& command) { return sim::tuning_report(tuned, command); });
  std::cout << tuned.size() << " configurations; 1 is as recorded, less is better:\n"
            << sim::tuning_table(tuned, asked.shown).text();
  const sim::TuningSplits splits = sim::tuning_splits(input->trace.config);
  if (splits.all > static_cast<double>(splits.tried.size()))
    std::cout << "Of " << sim::digits(splits.all) << " ways to split the replicas among the classes "
              << splits.tried.size() << " were tried, evenly spread.\n";
  const sim::Tuned& best = tuned.size() > 1 ? tuned[1] : tuned[0];
  const bool better = best.interval && best.interval->high < 1;
  std::cout << (better ? "\nThe best of them:\n"
                       : "\nNone is better than what was recorded beyond chance. The best:\n")
            << sim::yaml_of(best.plan.config) << std::flush;
  return std::cout ? kSuccess : kFailure;
}

}  // namespace

void add_tune(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand(
      "tune", "Search the policy, pools, thresholds and weights that serve a recorded trace best");
  command->footer(
      "The score is the mean response time of each class against the recorded policy's, weighed by price: a "
      "class\n"
      "costs --prefer times as much as the one below it. In the names, plb has "
      "target/saturation/return_ratio of each\n"
      "class, proportional the weights, dedicated the replicas. See docs/recording.md.");
  const auto asked = std::make_shared<TuneOptions>();
  add_trace_options(*command, asked->trace);
  command->add_option("--prefer", asked->plan.prefer, "Price of a class beside the one below it")
      ->check(CLI::Range(0.01, 100.0))
      ->capture_default_str();
  command->add_option("--load", asked->plan.load, "Arrivals so many times as fast")
      ->check(CLI::Range(0.01, 1'000.0))
      ->capture_default_str();
  command->add_option("--rounds", asked->plan.rounds, "Rounds of refinement behind the first search")
      ->check(CLI::Range(0, 100))
      ->capture_default_str();
  command->add_option("--show", asked->shown, "Rows of the table")
      ->check(CLI::Range(1, 1'000))
      ->capture_default_str();
  add_run_options(*command, asked->how);
  command->callback([&action, asked] { action = [asked] { return search(*asked); }; });
}

}  // namespace sluice::cli
