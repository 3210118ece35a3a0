#include <iostream>
#include <memory>
#include <string>

#include "cli/commands.h"
#include "config/placer_config.h"
#include "placer/placer.h"

namespace sluice::cli {
namespace {

int run_placer(const std::string& path) {
  const config::PlacerLoadOutcome outcome = config::load_placer(path);
  for (const config::Problem& problem : outcome.problems)
    std::cerr << config::to_string(problem) << "\n";
  if (outcome.config == nullptr) return kFailure;
  placer::Placer placer(path, outcome.config);
  if (const auto problem = placer.open()) {
    std::cerr << "sluice: " << *problem << '\n';
    return kFailure;
  }
  return placer.run();
}

}  // namespace

void add_placer(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("placer", "Pass web requests on to the compute host where they take least");
  auto path = std::make_shared<std::string>();
  command->add_option("-c,--config", *path, "Configuration file")->required()->type_name("FILE");
  command->footer("SIGHUP reloads the file, SIGTERM drains and ends, SIGUSR1 opens the log files anew.");
  command->callback([&action, path] { action = [path] { return run_placer(*path); }; });
}

}  // namespace sluice::cli
