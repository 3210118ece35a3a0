#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands.h"
#include "config/placer_config.h"
#include "placer/placer.h"

namespace sluice::cli {
namespace {

int run_placer(const std::string& path, service::Succession::Plan succession) {
  const config::PlacerLoadOutcome outcome = config::load_placer(path);
  for (const config::Problem& problem : outcome.problems)
    std::cerr << config::to_string(problem) << "\n";
  if (outcome.config == nullptr) return kFailure;
  placer::Placer placer(path, outcome.config, std::move(succession));
  if (const auto problem = placer.open()) {
    std::cerr << "sluice: " << *problem << '\n';
    return kFailure;
  }
  return placer.run();
}

}  // namespace

void add_placer(CLI::App& app, Action& action, const std::vector<std::string>& command_line) {
  CLI::App* command =
      app.add_subcommand("placer", "Pass web requests on to the compute host where they take least");
  auto path = std::make_shared<std::string>();
  command->add_option("-c,--config", *path, "Configuration file")->required()->type_name("FILE");
  auto takeover = std::make_shared<std::string>();
  command
      ->add_option(
          "--takeover", *takeover,
          "Unix socket: take the listening sockets over from the placer that waits there, if one does, "
          "and wait there for a successor")
      ->type_name("PATH");
  command->footer(
      "SIGHUP reloads the file, SIGTERM drains and ends, SIGUSR1 opens the log files anew, SIGUSR2 starts\n"
      "the program again to take over (with --takeover).");
  command->callback([&action, path, takeover, command_line] {
    action = [=] { return run_placer(*path, {*takeover, command_line}); };
  });
}

}  // namespace sluice::cli
