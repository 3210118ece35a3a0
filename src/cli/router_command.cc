#include <iostream>
#include <memory>
#include <string>

#include "cli/commands.h"
#include "cli/load_config.h"
#include "router/router.h"

namespace sluice::cli {
namespace {

int run_router(const std::string& path) {
  const auto config = load_config(path);
  if (!config) return kFailure;
  router::Router router(path, config);
  if (const auto problem = router.open()) {
    std::cerr << "sluice: " << *problem << '\n';
    return kFailure;
  }
  return router.run();
}

}  // namespace

void add_router(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("router", "Route PostgreSQL sessions to replicas by priority");
  auto path = std::make_shared<std::string>();
  command->add_option("-c,--config", *path, "Configuration file")->required()->type_name("FILE");
  command->footer("SIGHUP reloads the file, SIGTERM drains and ends, SIGUSR1 opens the log file anew.");
  command->callback([&action, path] { action = [path] { return run_router(*path); }; });
}

}  // namespace sluice::cli
