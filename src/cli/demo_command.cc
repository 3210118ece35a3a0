#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <memory>

#include "cli/commands.h"
#include "demo/demo.h"
#include "demo/sample_app.h"
#include "demo/visitors.h"

namespace sluice::cli {

namespace {

// The demo's own processes, for which the program starts itself anew. Not shown by --help.
void add_sample_app(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("demo-app", "The demo's sample application")->group("");
  struct Given {
    demo::SampleAppPlan plan;
    int way = 0, database_way = 0;
  };
  const auto given = std::make_shared<Given>();
  command->add_option("--host", given->plan.host, "Name of the compute host")->required();
  command->add_option("--port", given->plan.port, "Its HTTP port")->required();
  command->add_option("--router-port", given->plan.router_port, "The router's port")->required();
  command->add_option("--user", given->plan.user, "PGPASSWORD is the password")->required();
  command->add_option("--database", given->plan.database, "Database")->required();
  command->add_option("--way", given->way, "Milliseconds that a request takes longer")
      ->check(CLI::Range(0, 10'000));
  command->add_option("--database-way", given->database_way, "Milliseconds that a query takes longer")
      ->check(CLI::Range(0, 10'000));
  command->callback([&action, given] {
    if (const char* password = std::getenv("PGPASSWORD"); password != nullptr)
      given->plan.password = password;
    given->plan.way = std::chrono::milliseconds(given->way);
    given->plan.database_way = std::chrono::milliseconds(given->database_way);
    action = [plan = given->plan] { return demo::run_sample_app(plan); };
  });
}

void add_visitors(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("demo-visitors", "Visitors of the sample application")->group("");
  const auto port = std::make_shared<std::uint16_t>(std::uint16_t{0});
  command->add_option("--port", *port, "The placer's port")->required();
  command->callback([&action, port] { action = [port] { return demo::run_visitors(*port); }; });
}

}  // namespace

void add_demo(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand(
      "demo", "Run PostgreSQL with five standbys, router, placer, sample application and load, and watch");
  command->footer(
      "Everything runs on 127.0.0.1 from a temporary folder, with passwords made for this run. Ctrl-C stops "
      "and\n"
      "removes all of it. PostgreSQL does not run as root: started by root, the demo becomes the user "
      "postgres.\n"
      "Environment: SLUICE_PG_BIN names the folder of PostgreSQL's programs; NO_COLOR turns colours off.");
  struct Given {
    int seconds = 0;
    int port = 0;
    bool keep = false;
  };
  const auto given = std::make_shared<Given>();
  const CLI::Option* seconds =
      command->add_option("--seconds", given->seconds, "End by itself after so many seconds, with a summary")
          ->check(CLI::Range(1, 86400));
  const CLI::Option* port =
      command
          ->add_option("--port", given->port,
                       "The router's port; 0 for any free one. Default: 6432 if it is free")
          ->check(CLI::Range(0, 65535));
  command->add_flag("--keep", given->keep, "Leave the folder with data, configuration and logs behind");
  command->callback([&action, given, seconds, port] {
    demo::Options options;
    if (seconds->count() > 0) options.length = std::chrono::seconds(given->seconds);
    if (port->count() > 0) options.port = static_cast<std::uint16_t>(given->port);
    if (given->keep) options.afterwards = demo::Afterwards::Keep;
    action = [options] { return demo::run(options); };
  });
  add_sample_app(app, action);
  add_visitors(app, action);
}

}  // namespace sluice::cli
