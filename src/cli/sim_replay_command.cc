#include <charconv>
#include <initializer_list>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/sim_commands.h"
#include "cli/sim_runs.h"
#include "cli/trace_input.h"
#include "sim/reports.h"
#include "sim/what_if.h"

namespace sluice::cli {
namespace {

struct ReplayOptions {
  TraceOptions trace;
  RunOptions how;
  sim::WhatIf what;
  std::vector<std::string> policies, splits;
  std::string hold;
};

bool complain(const std::string& what) {
  std::cerr << "sluice sim replay: " << what << '\n';
  return false;
}

// "3+2"
bool read_split(const std::string& text, std::vector<std::int64_t>& split) {
  for (const char *at = text.data(), *const end = at + text.size(); at <= end;) {
    std::int64_t count = 0;
    const auto [stopped, error] = std::from_chars(at, end, count);
    if (error != std::errc() || count < 0 || count > 65'536 || (stopped != end && *stopped != '+'))
      return false;
    split.push_back(count);
    at = stopped + 1;
  }
  return true;
}

bool read_choices(ReplayOptions& asked) {
  for (const std::string& name : asked.policies) {
    const auto kind = policy::parse_policy(name);
    if (!kind) return complain("no policy is called '" + name.substr(0, 40) + "'");
    asked.what.policies.push_back(*kind);
  }
  for (const std::string& text : asked.splits)
    if (!read_split(text, asked.what.splits.emplace_back()))
      return complain("--split takes replicas of each class, as 3+2");
  if (!asked.hold.empty()) {
    asked.what.hold = policy::WeightTarget::parse(asked.hold);
    if (!asked.what.hold)
      return complain("--hold takes a target as median:0.8, p95:0.5, median:4s or p95:250ms");
  }
  return true;
}

template <class Value>
std::map<std::string, Value> names_of(std::initializer_list<Value> values, std::string_view (*name)(Value)) {
  std::map<std::string, Value> out;
  for (const Value value : values)
    out.emplace(name(value), value);
  return out;
}

int simulate(ReplayOptions asked) {
  if (!read_choices(asked)) return kUsage;
  const auto input = read_checked_trace(asked.trace, "sluice sim replay");
  if (!input) return kFailure;
  const sim::ReplayPlans plans = sim::plans_of(input->trace, input->demands.cores, asked.what);
  if (!plans.problem.empty()) return complain(plans.problem), kUsage;
  sim::ReplayPlan recorded;
  recorded.config = input->trace.config;
  recorded.queue = input->trace.queue;
  recorded.cores = input->demands.cores;
  std::vector<sim::NamedOutcome> outcomes(1 + plans.plans.size());
  outcomes[0].name = "as recorded";
  run_all(
      outcomes.size(),
      [&](std::size_t i) {
        if (i > 0) outcomes[i].name = plans.plans[i - 1].name;
        outcomes[i].outcome =
            sim::replay(input->trace, input->demands, i == 0 ? recorded : plans.plans[i - 1]);
      },
      asked.how);
  write_csv(asked.how, sim::replay_csv(outcomes).csv());
  write_report(asked.how, [&](const std::string& command) {
    return sim::replay_report(input->check, outcomes, command);
  });
  std::cout << sim::replay_table(outcomes).text() << std::flush;
  return std::cout ? kSuccess : kFailure;
}

}  // namespace

void add_sim_replay(CLI::App& parent, Action& action) {
  CLI::App* command =
      parent.add_subcommand("replay", "A recorded trace under other policies, pools, replicas and loads");
  command->footer(
      "First the recorded policy is replayed, and must give the recorded medians within --tolerance. Then "
      "every\n"
      "combination of what is asked for. Response times count the wait for a replica. How a trace is "
      "recorded,\n"
      "and what a replay can and cannot say: docs/recording.md.");
  const auto asked = std::make_shared<ReplayOptions>();
  add_trace_options(*command, asked->trace);
  command->add_option("--policy", asked->policies, "Policies; default the recorded one")
      ->delimiter(',')
      ->type_name("NAME");
  command->add_option("--replicas", asked->what.replica_counts, "Numbers of replicas")
      ->delimiter(',')
      ->check(CLI::Range(1, 1'000));
  command->add_option("--split", asked->splits, "Replicas of each class, as 3+2; the rest is Mixed")
      ->delimiter(',')
      ->type_name("N+N");
  command->add_option("--max-active", asked->what.max_active, "max_active of each replica; 0: no limit")
      ->delimiter(',')
      ->check(CLI::Range(0, 1'000'000));
  command
      ->add_option("--order", asked->what.orders,
                   "Which replica of a pool it is: least_loaded, sita_e, sita_v; default as recorded")
      ->delimiter(',')
      ->transform(CLI::Transformer(names_of(
          {policy::ReplicaOrder::LeastLoaded, policy::ReplicaOrder::SitaE, policy::ReplicaOrder::SitaV},
          policy::order_name)))
      ->type_name("NAME");
  command
      ->add_option("--queue", asked->what.queues,
                   "Who goes first in a class: fcfs, shortest_first; default as recorded")
      ->delimiter(',')
      ->transform(CLI::Transformer(names_of(
          {policy::QueueDiscipline::Fcfs, policy::QueueDiscipline::ShortestFirst}, policy::discipline_name)))
      ->type_name("NAME");
  command
      ->add_option("--sizes", asked->what.sizes,
                   "What those go by: expected, as the router did; measured, as if it had known")
      ->transform(CLI::Transformer(std::map<std::string, sim::ReplayPlan::Sizes>{
          {"expected", sim::ReplayPlan::Sizes::Expected}, {"measured", sim::ReplayPlan::Sizes::Measured}}))
      ->type_name("WHICH");
  command->add_option("--load", asked->what.loads, "Arrivals so many times as fast")
      ->delimiter(',')
      ->check(CLI::Range(0.01, 1'000.0));
  command
      ->add_option("--set", asked->what.overrides,
                   "A parameter of a class: premium.saturation=20, premium.weight=2")
      ->type_name("CLASS.NAME=VALUE");
  command->add_option("--hold", asked->hold, "With proportional: hold a target, as median:0.8 or p95:250ms")
      ->type_name("TARGET");
  add_run_options(*command, asked->how);
  command->callback([&action, asked] { action = [asked] { return simulate(*asked); }; });
}

}  // namespace sluice::cli
