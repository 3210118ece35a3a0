#include <algorithm>
#include <exception>
#include <iostream>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "cli/commands.h"

namespace sluice::cli {
namespace {

// Levenshtein's distance: single characters inserted, removed or replaced.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

int unknown_command(const CLI::App& app, const std::string& given) {
  const std::string word = given.substr(0, 40);
  std::string nearest;
  std::size_t nearest_distance = 3;  // further away is no slip of the fingers
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    const std::size_t distance = edit_distance(word, command->get_name());
    if (distance >= nearest_distance) continue;
    nearest = command->get_name();
    nearest_distance = distance;
  }
  std::cerr << "sluice: unknown command '" << word << "'";
  std::cerr << (nearest.empty() ? "." : "; did you mean '" + nearest + "'?");
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
  add_router(app, action);
  add_check(app, action);
  add_decide(app, action);
  add_demo(app, action);

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
