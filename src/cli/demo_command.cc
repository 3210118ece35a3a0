#include <cstdint>
#include <memory>

#include "cli/commands.h"
#include "demo/demo.h"

namespace sluice::cli {

void add_demo(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("demo", "Run PostgreSQL with five standbys, the router and sample load, and watch");
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
}

}  // namespace sluice::cli
