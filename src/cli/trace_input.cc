#include "cli/trace_input.h"

#include <cmath>
#include <fstream>
#include <iostream>
#include <limits>

#include "base/text.h"
#include "recording/trace_reader.h"
#include "sim/table.h"

namespace sluice::cli {

void add_trace_options(CLI::App& command, TraceOptions& options) {
  command.add_option("TRACE", options.trace, "Trace that the router recorded")->required()->type_name("FILE");
  command
      .add_option(
          "--cores", options.cores,
          "Cores of a replica that its queries share; 0: estimated from the trace, inf: more than enough")
      ->check(CLI::Range(0.0, std::numeric_limits<double>::infinity()))
      ->capture_default_str();
  command
      .add_option("--tolerance", options.tolerance,
                  "Error that a class's median may have when the recorded policy is replayed")
      ->check(CLI::Range(0.0, 10.0))
      ->capture_default_str();
}

std::optional<TraceInput> read_checked_trace(const TraceOptions& options, const std::string& command) {
  std::ifstream file(options.trace, std::ios::binary);
  if (!file) {
    std::cerr << command << ": cannot read " << options.trace << '\n';
    return std::nullopt;
  }
  recording::TraceReader reader(file);
  sim::LoadedTrace loaded = sim::load_trace(reader);
  if (const auto& damage = reader.damage())
    std::cerr << command << ": warning: " << options.trace << " is damaged at byte " << damage->byte << ": "
              << damage->what << "; everything before it is used\n";
  if (!loaded.problem.empty()) {
    std::cerr << command << ": " << options.trace << ": " << without_controls(loaded.problem) << '\n';
    return std::nullopt;
  }
  TraceInput input{std::move(loaded.trace), {}, {}};
  const sim::RecordedTrace& trace = input.trace;
  const double cores = options.cores > 0 ? options.cores : sim::estimate_cores(trace);
  std::cerr << command << ": " << trace.guests.size() << (trace.transactions ? " transactions" : " sessions")
            << " with " << trace.query_count << " queries in " << sim::digits(trace.duration) << " s on "
            << trace.config.replicas.size() << " replicas, " << (options.cores > 0 ? "" : "estimated ")
            << (std::isinf(cores) ? "to have cores enough"
                                  : "to have " + sim::digits(cores, 3) + " cores each")
            << '\n';
  if (trace.refused > 0) std::cerr << command << ": " << trace.refused << " that were refused are left out\n";
  if (trace.unended > 0)
    std::cerr << command << ": " << trace.unended
              << " had not ended, and are taken to end with their last query\n";
  if (trace.cut_short)
    std::cerr << command << ": warning: the trace has more than can be kept; what comes later is left out\n";
  if (trace.config_changed)
    std::cerr << command
              << ": warning: the configuration changed in the trace; only the first one is known here\n";
  input.demands = sim::demands(trace, cores);
  sim::ReplayPlan recorded;
  recorded.config = trace.config;
  recorded.queue = trace.queue;
  recorded.cores = cores;
  if (sim::goes_by_size(recorded) && trace.sized == 0)
    std::cerr << command
              << ": warning: the recorded configuration goes by size, and no expected sizes are in "
              << "the trace\n";
  input.check = sim::check_replay(sim::recorded_outcome(trace), sim::replay(trace, input.demands, recorded),
                                  options.tolerance);
  const sim::ReplayCheck& check = input.check;
  std::cout << "The recorded policy replayed, as a check:\n" << sim::check_table(check).text();
  if (!check.passes) {
    std::cerr << command << ": the replay does not give what was recorded within "
              << sim::percent(options.tolerance) << (check.rows.empty() ? ": there are no queries" : "")
              << "; nothing can be said of other policies. "
              << "Try --cores, or a larger --tolerance\n";
    return std::nullopt;
  }
  std::cout << "Largest error " << sim::percent(check.worst) << ", within " << sim::percent(options.tolerance)
            << ".\n\n";
  return input;
}

}  // namespace sluice::cli
