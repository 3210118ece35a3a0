#include <algorithm>
#include <iostream>
#include <memory>
#include <string>

#include "cli/sim_commands.h"
#include "cli/sim_runs.h"
#include "sim/reports.h"

namespace sluice::cli {
namespace {

struct PlbOptions {
  sim::PlbPlan plan;
  RunOptions how;
  std::vector<std::string> strategies;  // none: all
  std::vector<std::string> weights, holds;
  bool comparisons = false;
};

// False, with a message, when a name is unknown.
bool keep(std::vector<sim::Strategy>& strategies, const std::vector<std::string>& names) {
  if (names.empty()) return true;
  std::vector<sim::Strategy> kept;
  for (const std::string& name : names) {
    const auto found = std::find_if(strategies.begin(), strategies.end(),
                                    [&](const sim::Strategy& s) { return s.name == name; });
    if (found == strategies.end()) {
      std::cerr << "sluice sim plb: no strategy is called '" << name.substr(0, 40) << "'\n";
      return false;
    }
    kept.push_back(*found);
  }
  strategies = std::move(kept);
  return true;
}

// Adds what --weight and --hold ask for. False, with a message, when that cannot be read.
bool add_proportional(std::vector<sim::Strategy>& strategies, const PlbOptions& asked) {
  for (const std::string& text : asked.weights) {
    const auto weight = Weight::parse(text);
    if (!weight) {
      std::cerr
          << "sluice sim plb: --weight takes decimals from 0.001 to 1000 with at most three digits after the "
             "point\n";
      return false;
    }
    strategies.push_back(sim::proportional_strategy(*weight));
  }
  for (const std::string& text : asked.holds) {
    const auto target = policy::WeightTarget::parse(text);
    if (!target) {
      std::cerr << "sluice sim plb: --hold takes median:RATIO, p95:RATIO, median:SECONDSs or p95:SECONDSs\n";
      return false;
    }
    strategies.push_back(sim::held_strategy(*target));
  }
  return true;
}

int simulate(PlbOptions asked) {
  const sim::PlbWorkload& load = asked.plan.workload;
  if (!keep(asked.plan.strategies, asked.strategies) || !add_proportional(asked.plan.strategies, asked))
    return kUsage;
  if (load.lifetime_max < load.lifetime_min) {
    std::cerr << "sluice sim plb: --lifetime-max must not be below --lifetime-min\n";
    return kUsage;
  }
  const auto rows = rows_of<sim::PlbExperiment>(asked.plan, asked.how);
  write_csv(asked.how, sim::plb_csv(rows).csv());
  write_report(asked.how, [&](const std::string& command) { return sim::plb_report(rows, command); });
  std::cout << sim::plb_table(rows).text();
  if (asked.comparisons)
    std::cout << "\n5PLB against 5RR, by Welch's test on the runs:\n"
              << sim::comparison_table(sim::compare(rows, "5PLB", "5RR")).text();
  if (const auto trades = sim::trades(rows); !trades.empty())
    std::cout << "\nPLB against 5RR, and proportional where it gives Premium the same median:\n"
              << sim::trade_table(trades).text();
  if (const auto figures = sim::paper_figures(rows); !figures.empty())
    std::cout << "\nThe paper's figures beside these:\n" << sim::paper_table(figures).text();
  if (const auto objectives = sim::objectives(rows); !objectives.empty()) {
    std::cout << "\nWith 400 sessions and more:\n";
    for (const sim::Objective& o : objectives)
      std::cout << "  " << o.name << ": " << (o.holds ? "yes" : "not everywhere") << " (" << o.evidence
                << ")\n";
  }
  std::cout << std::flush;
  return std::cout ? kSuccess : kFailure;
}

}  // namespace

void add_sim_plb(CLI::App& parent, Action& action) {
  CLI::App* command =
      parent.add_subcommand("plb", "The evaluation of PLB: sessions of two classes on five replicas");
  command->footer(
      "Response times are in seconds, of queries. Each configuration is run under every strategy with the "
      "same\n"
      "sessions: 5PLB, 5RR (round robin), 3RR+2RR and 4RR+1RR (static parts for Premium and Freemium) and\n"
      "least_loaded, decided by the router's own code. Defaults come near the paper's utilizations; for a "
      "busier "
      "cluster\n"
      "with parallel queries: --think 0.5 --demand 8 --cores-per-query 3.");
  const auto asked = std::make_shared<PlbOptions>();
  sim::PlbPlan& plan = asked->plan;
  sim::PlbWorkload& load = plan.workload;
  const auto number = [&](const char* name, double& value, double min, double max, const char* help) {
    command->add_option(name, value, help)->check(CLI::Range(min, max))->capture_default_str();
  };
  command->add_option("--sessions", plan.sessions, "Sessions that arrive: T")
      ->delimiter(',')
      ->check(CLI::Range(1, 100'000))
      ->capture_default_str();
  command->add_option("--premium", plan.premium_shares, "Shares of Premium sessions")
      ->delimiter(',')
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  command->add_option("--strategy", asked->strategies, "Strategies; default all")
      ->delimiter(',')
      ->type_name("NAME");
  command
      ->add_option("--weight", asked->weights,
                   "Beside them policy proportional with these weights of Premium")
      ->delimiter(',')
      ->type_name("W");
  command
      ->add_option(
          "--hold", asked->holds,
          "Beside them policy proportional with a weight that holds a target of Premium: median or p95,\n"
          "times Freemium's or in seconds: median:0.8, p95:0.5, median:4s, p95:250ms")
      ->delimiter(',')
      ->type_name("TARGET");
  command->add_option("--runs", plan.runs, "Runs per row")
      ->check(CLI::Range(2, 1'000))
      ->capture_default_str();
  command->add_option("--seed", plan.seed, "Seed")->capture_default_str();
  number("--duration", load.duration, 1, 1e6, "Time in which sessions arrive: D");
  number("--lifetime-min", load.lifetime_min, 0, 1e6, "Least lifetime of a session");
  number("--lifetime-max", load.lifetime_max, 0, 1e6, "Greatest lifetime of a session");
  number("--think", load.think_mean, 0, 1e6, "Mean pause between the queries of a session");
  number("--demand", load.demand_mean, 1e-6, 1e6, "Mean demand of a query, core-seconds");
  number("--demand-cv", load.demand_cv, 1e-3, 100, "Its standard deviation over its mean");
  number("--storage", load.storage_mean, 0, 1e6,
         "Mean time that a query waits for storage before its work, whoever else is there");
  number("--cores", load.cores, 0.01, 1e6, "Cores of a replica");
  number("--cores-per-query", load.cores_per_query, 0.01, 1e6, "Cores that one query can use");
  command->add_flag("--comparisons", asked->comparisons, "Print 5PLB against 5RR with p and effect size");
  add_run_options(*command, asked->how);
  command->callback([&action, asked] { action = [asked] { return simulate(*asked); }; });
}

}  // namespace sluice::cli
