#pragma once

#include <string>
#include <vector>

#include "bench/findings.h"
#include "report/report.h"
#include "sim/table.h"

namespace sluice::bench {

sim::Table runs_table(const std::vector<RunInfo>& runs);  // every number of every run, for programs
sim::Table rows_table(const Group& group);                // means over runs
sim::Table service_table(const Group& group);             // what was lost, and sessions' waiting: by class
std::vector<std::string> cautions(const Group& group);    // what a reader of rows_table() has to know
sim::Table findings_table(const Group& group, const std::vector<Finding>& findings);
sim::Table findings_csv(const std::vector<Group>& groups,
                        const std::string& baseline);  // of all groups, for programs

// All groups, with charts. `command`: the line that made it; `apart`: what keeps the groups apart.
report::Report page_of(const std::vector<Group>& groups, const std::string& baseline,
                       const std::string& command, const std::string& apart);

}  // namespace sluice::bench
