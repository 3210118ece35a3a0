#pragma once

#include <string>
#include <vector>

#include "report/report.h"
#include "sim/assignment_experiment.h"
#include "sim/placement_sweep.h"
#include "sim/plb_paper.h"
#include "sim/plb_trade.h"
#include "sim/replay.h"
#include "sim/scheduling_experiment.h"
#include "sim/tuning.h"

namespace sluice::sim {

// What a command found, for a page: its table, and the charts that show it. `command` is the line that made
// it.
report::Report assignment_report(const std::vector<AssignmentRow>&, const std::string& command);
report::Report scheduling_report(const std::vector<SchedulingRow>&, const std::string& command);
report::Report plb_report(const std::vector<PlbRow>&, const std::string& command);
report::Report placement_report(const PlacementPlan&, const std::vector<SweepRow>&,
                                const std::string& command);
report::Report replay_report(const ReplayCheck&, const std::vector<NamedOutcome>&,
                             const std::string& command);
report::Report tuning_report(const std::vector<Tuned>&, const std::string& command);

}  // namespace sluice::sim
