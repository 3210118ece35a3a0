#include <filesystem>
#include <iostream>
#include <memory>
#include <string>

#include "cli/commands.h"
#include "config/config.h"
#include "config/file_text.h"
#include "import/translate.h"

namespace sluice::cli {
namespace {

import::FileRead read(const std::string& path, const std::string& beside){
    config::FileText file = config::read_file(path, import::kIniBytesMax);
// PgBouncer looks from where it was started, which is rarely where this is.
if (!file.text && !path.starts_with('/')) {
  const std::string there = (std::filesystem::path(beside).parent_path() / path).string();
  if (config::FileText other = config::read_file(there, import::kIniBytesMax); other.text)
    file = std::move(other);
}
return {std::move(file.text), std::move(file.problem)};
}  // namespace

int translate(const import::Sources& sources) {
  const import::Translation made =
      import::translate(sources, [&](const std::string& path) { return read(path, sources.ini_path); });
  for (const import::Note& problem : made.problems)
    std::cerr << "sluice: " << import::to_string(problem) << "\n";
  if (!made.problems.empty()) return kFailure;
  std::cout << made.yaml << std::flush;
  for (const import::Note& note : made.notes)
    std::cerr << import::to_string(note) << "\n";
  const config::LoadOutcome outcome = config::load_text(made.yaml, "sluice.yaml");
  if (!outcome.problems.empty()) std::cerr << "What `sluice check` would say here:\n";
  for (const config::Problem& problem : outcome.problems)
    std::cerr << config::to_string(problem) << "\n";
  return std::cout ? kSuccess : kFailure;
}

}  // namespace sluice::cli

void add_import(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("import", "Translate a PgBouncer configuration");
  command->footer(
      "Writes a configuration of the router to standard output. What has no equivalent, or another meaning, "
      "is\n"
      "listed on standard error, FILE:LINE: SETTING: what, and in comments of the result. See "
      "docs/migrating.md.");
  const auto sources = std::make_shared<import::Sources>();
  const auto userlist = std::make_shared<std::string>();
  command->add_option("pgbouncer.ini", sources->ini_path, "PgBouncer's configuration file")->required();
  CLI::Option* const given =
      command->add_option("userlist.txt", *userlist, "Users and secrets, instead of auth_file");
  command->callback([&action, sources, userlist, given] {
    if (given->count() > 0) sources->userlist_path = *userlist;
    action = [sources] { return translate(*sources); };
  });
}

}  // namespace sluice::cli
