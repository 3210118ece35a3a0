#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands.h"
#include "cli/load_config.h"
#include "router/router.h"

namespace sluice::cli {
namespace {

int run_router(const std::string& path, service::Succession::Plan succession) {
  const auto config = load_config(path);
  if (!config) return kFailure;
  router::Router router(path, config, std::move(succession));
  if (const auto problem = router.open()) {
    std::cerr << "sluice: " << *problem << '\n';
    return kFailure;
  }
  return router.run();
}

}  // namespace

void add_router(CLI::App& app, Action& action, const std::vector<std::string>& command_line) {
  CLI::App* command = app.add_subcommand("router", "Route PostgreSQL sessions to replicas by priority");
  auto path = std::make_shared<std::string>();
  command->add_option("-c,--config", *path, "Configuration file")->required()->type_name("FILE");
  auto takeover = std::make_shared<std::string>();
  command
      ->add_option(
          "--takeover", *takeover,
          "Unix socket: take the listening sockets over from the router that waits there, if one does, "
          "and wait there for a successor")
      ->type_name("PATH");
  command->footer(
      "SIGHUP reloads the file, SIGTERM drains and ends, SIGUSR1 opens the log file anew, SIGUSR2 starts "
      "the\n"
      "program again to take over (with --takeover).");
  command->callback([&action, path, takeover, command_line] {
    action = [=] { return run_router(*path, {*takeover, command_line}); };
  });
}

}  // namespace sluice::cli
