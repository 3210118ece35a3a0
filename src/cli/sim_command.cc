#include "cli/commands.h"
#include "cli/sim_commands.h"

namespace sluice::cli {

void add_sim(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("sim", "Simulate policies in virtual time");
  command->require_subcommand(1);
  command->footer(
      "Runs are seeded: the same options give the same numbers on every machine, whatever --threads says.\n"
      "What the results show, and where the papers' claims stop holding: docs/simulator.md.");
  add_sim_assignment(*command, action);
  add_sim_scheduling(*command, action);
  add_sim_plb(*command, action);
  add_sim_placement(*command, action);
  add_sim_replay(*command, action);
}

}  // namespace sluice::cli
