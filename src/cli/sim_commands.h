#pragma once

#include "cli/commands.h"

namespace sluice::cli {

// Each adds one simulation to the command `sim`.
void add_sim_assignment(CLI::App& sim, Action& action);
void add_sim_scheduling(CLI::App& sim, Action& action);
void add_sim_plb(CLI::App& sim, Action& action);
void add_sim_placement(CLI::App& sim, Action& action);
void add_sim_replay(CLI::App& sim, Action& action);

}  // namespace sluice::cli
