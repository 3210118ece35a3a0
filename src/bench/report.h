#pragma once

#include <string>
#include <vector>

#include "bench/findings.h"
#include "report/report.h"
#include "sim/table.h"

namespace sluice::bench {

sim::Table runs_table(const std::vector<RunInfo>& runs);  // every number of every run, for programs
sim::Table rows_table(const Group& group);                // means over runs
sim::Table findings_table(const Group& group, const std::vector<Finding>& findings);
sim::Table findings_csv(const std::vector<Group>& groups,
                        const std::string& baseline);  // of all groups, for programs

// All groups, with charts. `command`: the line that made it.
report::Report page_of(const std::vector<Group>& groups, const std::string& baseline,
                       const std::string& command);

}  // namespace sluice::bench
