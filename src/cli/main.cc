#include <exception>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "base/nearest.h"
#include "cli/commands.h"

namespace sluice::cli {
namespace {

int unknown_command(const CLI::App& app, const std::string& given) {
  const std::string word = given.substr(0, 40);
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(command->get_name());
  const std::vector<std::string_view> candidates(names.begin(), names.end());
  const std::string near(nearest(word, candidates).value_or(""));
  std::cerr << "sluice: unknown command '" << word << "'";
  std::cerr << (near.empty() ? "." : "; did you mean '" + near + "'?");
  std::cerr << " See 'sluice --help'.\n";
  return kUsage;
}

bool has_command(const CLI::App& app, const std::string& name) {
  return !app.get_subcommands([&](const CLI::App* command) { return command->check_name(name); }).empty();
}

int run(int argc, char** argv) {
  CLI::App app("Sluice: priority-aware connection router for PostgreSQL", "sluice");
  app.set_version_flag("--version", "sluice " SLUICE_VERSION);
  app.require_subcommand(0, 1);
  app.failure_message(CLI::FailureMessage::simple);
  Action action;
  const std::vector<std::string> command_line(argv, argv + argc);
  add_router(app, action, command_line);
  add_placer(app, action, command_line);
  add_check(app, action);
  add_decide(app, action);
  add_demo(app, action);
  add_sim(app, action);
  add_tune(app, action);
  add_import(app, action);
  add_top(app, action);
  add_profile(app, action);
  add_calibrate(app, action);
  add_bench(app, action);

  if (argc > 1 && argv[1][0] != '-' && !has_command(app, argv[1])) return unknown_command(app, argv[1]);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return app.exit(e);  // --help, --version
    std::cerr << "sluice: " << e.what() << "\nSee 'sluice --help', or 'sluice COMMAND --help'.\n";
    return kUsage;
  }
  if (!action) {
    std::cerr << app.help();
    return kUsage;
  }
  return action();
}

}  // namespace
}  // namespace sluice::cli

int main(int argc, char** argv) {
  try {
    return sluice::cli::run(argc, argv);
  } catch (const std::exception& e) {
    std::cerr << "sluice: " << e.what() << std::endl;
    return sluice::cli::kFailure;
  }
}
