#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include <CLI/CLI.hpp>

#include "report/report.h"
#include "sim/stream_plan.h"

namespace sluice::cli {

// What every simulation of many independent runs is asked.
struct RunOptions {
  unsigned threads = 0;  // 0: as many as there are processors
  std::string csv;       // file to write all numbers to, "" for none
  std::string report;    // file for a page with charts, "" for none
  bool quiet = false;    // no progress
};
void add_run_options(CLI::App& command, RunOptions&);

// What every simulation of a stream of jobs is asked beside. `jobs`: what the command calls them, "Tasks".
void add_stream_options(CLI::App& command, sim::StreamPlan& plan, bool& formulas, const std::string& jobs);
// False, with a message, when there can be no sizes like that. `command`: "sluice sim assignment".
bool sizes_possible(const sim::StreamPlan& plan, const std::string& command);

// Calls run(0) to run(count - 1), each once, from as many threads as asked for, and shows on standard error
// how far it is where that is a terminal. An exception of a run ends the others after theirs and is thrown
// here.
void run_all(std::size_t count, const std::function<void(std::size_t)>& run, const RunOptions&);

// All runs of an experiment, and what came out.
template <class Experiment, class Plan>
auto rows_of(const Plan& plan, const RunOptions& how) {
  Experiment experiment(plan);
  run_all(
      experiment.run_count(), [&](std::size_t index) { experiment.run(index); }, how);
  return experiment.rows();
}

// This program's name and arguments, as the kernel has them.
std::string typed_command();

// Writes the file of --report, if there is one, with what `make` gives; throws as write_csv(). `command`: the
// line that was typed.
void write_report(const RunOptions&, const std::function<report::Report(const std::string& command)>& make);

// Writes the file of --csv, if there is one; throws std::runtime_error with the file's name when that fails.
void write_csv(const RunOptions&, const std::string& text);

}  // namespace sluice::cli
