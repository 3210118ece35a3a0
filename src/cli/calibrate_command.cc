#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>

#include "calibrate/failure.h"
#include "calibrate/run.h"
#include "cli/commands.h"
#include "config/placer_config.h"

namespace sluice::cli {
namespace {

struct CalibrateOptions {
  calibrate::Options options;
  std::string config, database_url;
  std::vector<std::string> requests;  // PATTERN=PATH
  bool sql_only = false;
};

std::shared_ptr<const config::PlacerConfig> load(const std::string& path) {
  const config::PlacerLoadOutcome outcome = config::load_placer(path);
  for (const config::Problem& problem : outcome.problems)
    std::cerr << to_string(problem) << "\n";
  return outcome.config;
}

int calibrate(CalibrateOptions asked) {
  try {
    for (const std::string& request : asked.requests) {
      const std::size_t equals = request.find('=');
      if (equals == request.npos) throw calibrate::Failure("--request " + request + " is not PATTERN=PATH");
      asked.options.paths[request.substr(0, equals)] = request.substr(equals + 1);
    }
    if (asked.sql_only) {
      if (asked.database_url.empty())
        if (const char* const url = std::getenv("DATABASE_URL")) asked.database_url = url;
      calibrate::run_sql_only(asked.options, asked.database_url, std::cout);
      return kSuccess;
    }
    const auto config = load(asked.config);
    if (config == nullptr) return kFailure;
    calibrate::run(config, asked.options, std::cout);
    return kSuccess;
  } catch (const calibrate::Failure& e) {
    std::cout << std::flush;
    std::cerr << "sluice calibrate: " << e.what() << std::endl;
    return kFailure;
  }
}

}  // namespace

void add_calibrate(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("calibrate", "Measure compute hosts and routes for the placement model");
  command->footer(
      "Sends warm-ups and then samples to each host, one request at a time: a TCP connect, the health page, "
      "and each\n"
      "route of the placer's configuration. Run it where the placer runs, without other load. SELECT 1 comes "
      "from the\n"
      "router's profile, or from files that --sql-only wrote on the compute hosts:\n"
      "  on host b:   sluice calibrate --sql-only --host b --database-url postgresql://... -o b.yaml\n"
      "  here:        sluice calibrate -c placer.yaml --merge a.yaml b.yaml\n"
      "Exit code 1, and nothing written, when a host does not answer or the samples are too noisy.");
  const auto asked = std::make_shared<CalibrateOptions>();
  calibrate::Options& o = asked->options;
  command->add_option("-c,--config", asked->config, "Configuration file of the placer")->type_name("FILE");
  command->add_option("-o,--output", o.output,
                      "Where to write; default: calibration_file of the configuration, else standard output");
  command->add_option("--samples", o.samples, "Measured requests per host and page")
      ->check(CLI::Range(10, 1'000'000))
      ->capture_default_str();
  command->add_option("--warm-ups", o.warm_ups, "Requests before these")
      ->check(CLI::Range(0, 1'000'000))
      ->capture_default_str();
  command->add_option("--host", o.hosts,
                      "Only these compute hosts; with --sql-only: which one this machine is");
  command->add_option("--request", asked->requests,
                      "PATTERN=PATH: the page to ask for of a route with parameters");
  command->add_option("--merge", o.merge, "Files that --sql-only wrote");
  command->add_option(
      "--count-queries", o.count_queries,
      "HOST:PORT of the router's HTTP admin: find unknown N_serial by the router's query counter");
  command->add_flag("--sql-only", asked->sql_only, "Measure SELECT 1 from this machine and nothing else");
  command->add_option("--database-url", asked->database_url,
                      "For --sql-only: the router's database; default: $DATABASE_URL");
  command->add_option("--raw", o.raw, "Write every sample to this file, as CSV");
  command->add_flag("--dry-run", o.dry_run, "Say what would be measured, and send nothing");
  command->add_flag("--force", o.force, "Write although samples are too noisy");
  command->callback([&action, asked] {
    if (!asked->sql_only && asked->config.empty()) throw CLI::RequiredError("--config");
    action = [asked] { return calibrate(*asked); };
  });
}

}  // namespace sluice::cli
