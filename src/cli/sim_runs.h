#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include <CLI/CLI.hpp>

namespace sluice::cli {

// What every simulation of many independent runs is asked.
struct RunOptions {
  unsigned threads = 0;  // 0: as many as there are processors
  std::string csv;       // file to write all numbers to, "" for none
  bool quiet = false;    // no progress
};
void add_run_options(CLI::App& command, RunOptions&);

// Calls run(0) to run(count - 1), each once, from as many threads as asked for, and shows on standard error
// how far it is where that is a terminal. An exception of a run ends the others after theirs and is thrown
// here.
void run_all(std::size_t count, const std::function<void(std::size_t)>& run, const RunOptions&);

// Writes the file of --csv, if there is one; throws std::runtime_error with the file's name when that fails.
void write_csv(const RunOptions&, const std::string& text);

}  // namespace sluice::cli
