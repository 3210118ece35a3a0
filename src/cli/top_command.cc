#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "cli/commands.h"
#include "top/top.h"

namespace sluice::cli {

void add_top(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("top", "Show the router's pools live in a terminal");
  command->footer(
      "CONNINFO is a connection string or URI of libpq; by default 127.0.0.1, port 6432, database sluice. "
      "The user\n"
      "must stand in admin_users or stats_users; passwords come from ~/.pgpass or PGPASSWORD.\n"
      "Keys: q quits, s sorts by name, sessions or lag, r reverses, space freezes.");
  const auto settings = std::make_shared<top::Settings>();
  const auto seconds = std::make_shared<double>(2);
  command->add_option("conninfo", settings->conninfo, "Where the console is, e.g. \"host=db1 user=stats\"");
  command->add_option("-i,--interval", *seconds, "Seconds between two refreshes")
      ->check(CLI::Range(0.1, 3600.0));
  command->add_flag("--once", settings->once, "Print one page without colours, after one interval, and end");
  command->callback([&action, settings, seconds] {
    settings->interval = std::chrono::milliseconds(static_cast<std::int64_t>(*seconds * 1000));
    action = [settings] { return top::run(*settings); };
  });
}

}  // namespace sluice::cli
