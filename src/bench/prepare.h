#pragma once

#include <ostream>

#include "bench/workload.h"
#include "pgclient/client.h"

namespace sluice::bench {

// Runs the scripts that make a workload's data, one after the other, and tells each with its time. Blocks.
// Throws Failure with the script's name and what the server said; what earlier scripts made stays.
void init(const Workload& workload, const pgclient::ConnectParams& server, double timeout, std::ostream& out);

// Runs the workload's check and prints its rows. False when one of them is not ok. Blocks. Throws Failure
// when the check cannot be run, or there is none.
bool check(const Workload& workload, const pgclient::ConnectParams& server, double timeout,
           std::ostream& out);

}  // namespace sluice::bench
