#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "bench/prepare.h"
#include "bench/report.h"
#include "bench/run_folder.h"
#include "bench/run_order.h"
#include "cli/bench_options.h"
#include "cli/sim_runs.h"
#include "report/report.h"
#include "sim/table.h"

namespace sluice::cli {
namespace {

int make_data(const BenchWorkload& asked) {
  bench::init(workload_of(asked), server_of(asked), asked.timeout, std::cout);
  return kSuccess;
}

int check_data(const BenchWorkload& asked) {
  return bench::check(workload_of(asked), server_of(asked), asked.timeout, std::cout) ? kSuccess : kFailure;
}

void add_data_command(CLI::App& parent, Action& action, const char* name, const char* help,
                      int (*work)(const BenchWorkload&)) {
  CLI::App* command = parent.add_subcommand(name, help);
  const auto asked = std::make_shared<BenchWorkload>();
  asked->timeout = 7200;
  add_workload_options(*command, *asked);
  command->add_option("--timeout", asked->timeout, "Seconds that one script may take")
      ->check(CLI::Range(1.0, 1e6))
      ->capture_default_str();
  command->callback(
      [&action, asked, work] { action = bench_action([asked, work] { return work(*asked); }); });
}

int print_order(const bench::Grid& grid) {
  for (const bench::PlannedRun& run : bench::run_order(grid))
    std::cout << run.strategy << ' ' << run.terminals << ' ' << sim::digits(run.premium_share) << ' '
              << run.repetition << '\n';
  std::cout << std::flush;
  return std::cout ? kSuccess : kFailure;
}

void add_order(CLI::App& parent, Action& action) {
  CLI::App* command = parent.add_subcommand(
      "order", "Print the runs of several strategies in random order: strategy, T, share, repetition");
  const auto grid = std::make_shared<bench::Grid>();
  command->add_option("--strategy", grid->strategies, "Labels of the strategies")->delimiter(',')->required();
  command->add_option("--terminals", grid->terminals, "Sessions that arrive: T")
      ->delimiter(',')
      ->check(CLI::Range(1, 1'000'000))
      ->required();
  command->add_option("--premium-share", grid->premium_shares, "Shares of the higher class")
      ->delimiter(',')
      ->check(CLI::Range(0.0, 1.0))
      ->required();
  command->add_option("--repeat", grid->repetitions, "Repetitions of each")
      ->check(CLI::Range(1, 1'000))
      ->capture_default_str();
  command->add_option("--seed", grid->seed, "Seed of the order")->capture_default_str();
  command->callback([&action, grid] { action = [grid] { return print_order(*grid); }; });
}

struct ReportAsked {
  std::string results, baseline = "round_robin";
};

int write_report(const ReportAsked& asked) {
  const std::filesystem::path folder = asked.results;
  const auto runs = bench::read_runs(folder);
  if (runs.empty()) throw bench::Failure("there are no runs in " + (folder / "runs").string());
  const auto groups = bench::groups_of(runs);
  const std::string apart = bench::kept_apart(runs);
  for (const bench::Group& group : groups) {
    const auto findings = bench::findings_of(group, asked.baseline);
    std::cout << group.title << "\n" << bench::rows_table(group).text();
    for (const std::string& caution : bench::cautions(group))
      std::cout << caution << "\n";
    std::cout << "\n" << bench::service_table(group).text();
    if (!findings.empty())
      std::cout << "\nAgainst " << asked.baseline << ":\n" << bench::findings_table(group, findings).text();
    std::cout << "\n";
  }
  if (!apart.empty()) std::cout << apart << ".\n\n";
  bench::write_text(folder / "runs.csv", bench::runs_table(runs).csv());
  bench::write_text(folder / "comparisons.csv", bench::findings_csv(groups, asked.baseline).csv());
  bench::write_text(folder / "report.html",
                    report::page(bench::page_of(groups, asked.baseline, typed_command(), apart)));
  std::cout << "Wrote runs.csv, comparisons.csv and report.html into " << folder.string() << std::endl;
  return std::cout ? kSuccess : kFailure;
}

void add_report(CLI::App& parent, Action& action) {
  CLI::App* command = parent.add_subcommand("report", "Compare all runs in a folder: tables, CSV and a page");
  const auto asked = std::make_shared<ReportAsked>();
  command->add_option("results", asked->results, "Folder of results")->required()->type_name("DIR");
  command->add_option("--baseline", asked->baseline, "Strategy that the others are compared with")
      ->capture_default_str();
  command->callback([&action, asked] { action = bench_action([asked] { return write_report(*asked); }); });
}

}  // namespace

void add_bench(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("bench", "Sessions of two classes against a router, measured and compared");
  command->require_subcommand(1);
  add_data_command(*command, action, "init", "Make a workload's schema and data", &make_data);
  add_data_command(*command, action, "check", "Check a workload's data", &check_data);
  add_bench_run(*command, action);
  add_order(*command, action);
  add_report(*command, action);
}

}  // namespace sluice::cli
