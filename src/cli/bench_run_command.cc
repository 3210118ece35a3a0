#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/clock.h"
#include "bench/run.h"
#include "bench/run_folder.h"
#include "bench/run_text.h"
#include "cli/bench_options.h"
#include "terminal/progress.h"

namespace sluice::cli {
namespace {

using bench::Failure;

struct RunAsked {
  BenchWorkload workload;
  bench::RunOptions options;
  std::vector<double> lifetime = {10, 30};
  std::string think = "0";
  std::vector<std::string> replicas, class_users, hosts;
  std::vector<std::string> class_names = {"premium", "freemium"};
  std::string output = "bench";
  std::size_t repeat = 1;
  bool again = false, transaction_mode = false, per_transaction = false;
};

// NAME=USER for one of the classes.
void set_class_user(const std::string& text, bench::RunOptions& options) {
  const std::size_t equals = text.find('=');
  for (std::size_t c = 0; c < bench::kClassCount; ++c)
    if (equals != text.npos && text.substr(0, equals) == options.class_names[c] && equals + 1 < text.size()) {
      options.class_users[c] = text.substr(equals + 1);
      return;
    }
  throw Failure("--class-users takes CLASS=USER, with the classes " + options.class_names[0] + " and " +
                options.class_names[1]);
}

bench::RunOptions options_of(const RunAsked& asked) {
  bench::RunOptions options = asked.options;
  options.server = server_of(asked.workload);
  options.workload = workload_of(asked.workload);
  const auto think = bench::Think::parse(asked.think);
  if (!think) throw Failure("--think takes seconds, such as 0.5 or fixed:0.5");
  options.think = *think;
  options.class_names = {asked.class_names[0], asked.class_names[1]};
  for (const std::string& text : asked.class_users)
    set_class_user(text, options);
  for (const std::string& text : asked.replicas) {
    const auto replica = bench::ReplicaSpec::parse(text);
    if (!replica)
      throw Failure("--replica " + text + " is not NAME=HOST:PORT[,cgroup:PATH|,pid:PID][,cores:N]");
    options.replicas.push_back(*replica);
  }
  options.output = asked.output;
  bench::RunKey& key = options.key;
  key.query_timeout = asked.workload.timeout;
  key.hosts = asked.hosts;
  key.mode = asked.transaction_mode ? bench::PoolMode::Transaction : bench::PoolMode::Session;
  key.ask_replica = asked.per_transaction ? bench::AskReplica::PerQuery : bench::AskReplica::PerSession;
  key.workload = options.workload.name;
  key.digest = options.workload.digest;
  key.scale = asked.workload.scale;
  key.lifetime_min = asked.lifetime[0];
  key.lifetime_max = asked.lifetime[1];
  key.think = options.think.text();
  if (key.lifetime_min > key.lifetime_max) throw Failure("--lifetime is LEAST,GREATEST");
  if (key.warm_up >= key.duration) throw Failure("--warm-up has to be shorter than --duration");
  if (key.strategy.empty() || key.strategy.size() > 60 || key.strategy.front() == '.' ||
      key.strategy.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+-") !=
          key.strategy.npos)
    throw Failure("--strategy is a word of letters, digits and . _ + -, as it names folders");
  return options;
}

// Those that are not there yet; of the others it says so.
std::vector<bench::RunKey> runs_to_do(const RunAsked& asked, const bench::RunOptions& options) {
  std::vector<bench::RunKey> keys;
  for (std::size_t i = 0; i < asked.repeat; ++i) {
    bench::RunKey key = options.key;
    key.repetition += i;
    const std::string name = bench::folder_name(key);
    const bench::Present present = asked.again ? bench::Present::No : bench::present(options.output, key);
    if (present == bench::Present::Other)
      throw Failure("run " + name +
                    " is there, but was asked for with other options: give another --output or "
                    "--strategy, or --again to replace it");
    if (present == bench::Present::Same)
      std::cout << "run " << name << " is there already; --again repeats it" << std::endl;
    else
      keys.push_back(std::move(key));
  }
  return keys;
}

// Seconds of the durations of `runs` runs, of which `over` are over.
void show(terminal::Progress& progress, const bench::Standing& standing, double duration, std::size_t over,
          std::size_t runs) {
  const double done = static_cast<double>(over) * duration + standing.seconds;
  const double of = static_cast<double>(runs) * duration;
  const auto at_most = bench::to_clock(standing.at_most);
  switch (standing.awaiting) {
    case bench::Awaiting::Nothing:
      return progress.step(done, of);
    case bench::Awaiting::Answers:
      return progress.wait(done, of, {"answers", standing.count, at_most});
    case bench::Awaiting::Cancels:
      return progress.wait(done, of, {"cancels", standing.count, at_most});
  }
}

int measure(const RunAsked& asked) {
  bench::RunOptions options = options_of(asked);
  const std::vector<bench::RunKey> keys = runs_to_do(asked, options);
  terminal::Progress progress;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    options.key = keys[i];
    const bench::RunResult result = bench::run(options, [&](const bench::Standing& standing) {
      show(progress, standing, options.key.duration, i, keys.size());
    });
    progress.clear();
    const std::string name = bench::folder_name(options.key);
    if (result.outcome == bench::Outcome::Interrupted) {
      std::cerr << "sluice bench: interrupted; run " << name << " was not kept" << std::endl;
      return kFailure;
    }
    std::cout << "run " << name << "\n" << bench::summary_text(result.info) << std::flush;
  }
  return std::cout ? kSuccess : kFailure;
}

void add_load_options(CLI::App& command, const std::shared_ptr<RunAsked>& asked) {
  bench::RunKey& key = asked->options.key;
  command.add_option("--terminals", key.terminals, "Sessions that arrive: T")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  command.add_option("--duration", key.duration, "Seconds in which they arrive and queries begin: D")
      ->check(CLI::Range(0.1, 1e6))
      ->capture_default_str();
  command.add_option("--warm-up", key.warm_up, "Seconds at the beginning that do not count")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
  command.add_option("--lifetime", asked->lifetime, "Least and greatest lifetime of a session, seconds")
      ->delimiter(',')
      ->expected(2)
      ->check(CLI::Range(0.0, 1e6))
      ->type_name("LEAST,GREATEST")
      ->capture_default_str();
  command
      .add_option("--think", asked->think,
                  "Pause behind each query: mean of an exponential law, or fixed:SECONDS")
      ->type_name("SECONDS")
      ->capture_default_str();
  command.add_option("--premium-share", key.premium_share, "Share of the sessions in the higher class")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  command.add_option("--class-names", asked->class_names, "The two classes, the higher one first")
      ->delimiter(',')
      ->expected(2)
      ->capture_default_str();
  command
      .add_option("--class-users", asked->class_users,
                  "Tell the class by the user instead of the startup option sluice.priority")
      ->delimiter(',')
      ->type_name("CLASS=USER");
  command.add_option("--hosts", asked->hosts, "Hosts that sessions say they come from, by sluice.host")
      ->delimiter(',')
      ->type_name("NAME");
}

void add_measuring_options(CLI::App& command, const std::shared_ptr<RunAsked>& asked) {
  bench::RunKey& key = asked->options.key;
  command.add_option("--strategy", key.strategy, "What is measured: a label")->capture_default_str();
  command.add_option("--budget", key.budget, "Replicas that it has: a label")
      ->check(CLI::Range(0, 10'000))
      ->capture_default_str();
  command.add_flag("--transaction-mode", asked->transaction_mode, "The router pools by transaction: a label");
  command.add_flag("--per-transaction", asked->per_transaction,
                   "Ask the server with every query who it is and when the transaction began");
  command.add_option("--seed", key.seed, "Seed of arrivals, classes, queries and pauses")
      ->capture_default_str();
  command
      .add_option("--repetition", key.repetition, "Number of this run among its like; another seed for each")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  command.add_option("--repeat", asked->repeat, "So many runs, from that number on")
      ->check(CLI::Range(1, 10'000))
      ->capture_default_str();
  command
      .add_option("--replica", asked->replicas,
                  "A replica, and whose processor time is its own; once for each")
      ->type_name("NAME=HOST:PORT[,cgroup:PATH|,pid:PID][,cores:N]");
  command.add_option("--query-timeout", asked->workload.timeout, "Seconds that a query may take")
      ->check(CLI::Range(0.1, 1e6))
      ->capture_default_str();
  command.add_option("--connect-timeout", key.connect_timeout, "Seconds that a login may take")
      ->check(CLI::Range(0.1, 1e6))
      ->capture_default_str();
  command.add_option("--drain", key.drain, "Seconds to wait for the last answers behind the duration")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
  command.add_option("-o,--output", asked->output, "Folder of results, which many runs share")
      ->type_name("DIR")
      ->capture_default_str();
  command.add_flag("--again", asked->again, "Measure also what is there, and replace it");
}

}  // namespace

void add_bench_run(CLI::App& parent, Action& action) {
  CLI::App* command =
      parent.add_subcommand("run", "Measure one strategy: sessions that arrive, ask and leave");
  const auto asked = std::make_shared<RunAsked>();
  add_workload_options(*command, asked->workload);
  add_load_options(*command, asked);
  add_measuring_options(*command, asked);
  command->callback([&action, asked] { action = bench_action([asked] { return measure(*asked); }); });
}

}  // namespace sluice::cli
