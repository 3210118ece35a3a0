#include <iostream>
#include <memory>
#include <string>

#include "cli/commands.h"
#include "config/print.h"

namespace sluice::cli {
namespace {

int check(const std::string& path) {
  const config::LoadOutcome outcome = config::load(path);
  std::cout << config::check_report(outcome, path) << std::flush;
  return outcome.config != nullptr && std::cout ? kSuccess : kFailure;
}

}  // namespace

void add_check(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("check", "Validate a configuration file and print the effective values");
  command->footer(
      "Every problem is a line FILE:LINE:COLUMN: SEVERITY: KEY: message. Exit code 1 if any of them is an "
      "error;\n"
      "warnings alone give 0.");
  const auto path = std::make_shared<std::string>("sluice.yaml");
  command->add_option("-c,--config,file", *path, "Configuration file")->required();
  command->callback([&action, path] { action = [path] { return check(*path); }; });
}

}  // namespace sluice::cli
