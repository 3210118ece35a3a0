#pragma once

#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include "sim/replay.h"

namespace sluice::cli {

// What every command on a recorded trace is asked.
struct TraceOptions {
  std::string trace;
  double cores = 0;        // 0: estimated
  double tolerance = 0.1;  // of the check
};
void add_trace_options(CLI::App& command, TraceOptions&);

struct TraceInput {
  sim::RecordedTrace trace;
  sim::Demands demands;
  sim::ReplayCheck check;
};
// Reads a trace, says on standard error what it is and where it is damaged, and checks that a replay under
// the recorded policy gives the recorded medians, whose table goes to standard output. nullopt, with a
// message, where there is nothing to go by. `command`: "sluice sim replay".
std::optional<TraceInput> read_checked_trace(const TraceOptions&, const std::string& command);

}  // namespace sluice::cli
