#pragma once

#include <iostream>
#include <string>

#include <CLI/CLI.hpp>

#include "bench/problem.h"
#include "bench/workload.h"
#include "cli/commands.h"
#include "pgclient/client.h"

namespace sluice::cli {

// What every command about a workload is asked.
struct BenchWorkload {
  std::string dsn, workload = "pareto", files, scale = "1";
  double timeout = 600;  // seconds that one query or script may take
};
void add_workload_options(CLI::App& command, BenchWorkload& asked);

// Both throw bench::Failure with what is wrong.
pgclient::ConnectParams server_of(const BenchWorkload& asked);
bench::Workload workload_of(const BenchWorkload& asked);

// `work` with its failures as one line and an exit code.
template <class Work>
Action bench_action(Work work) {
  return [work] {
    try {
      return work();
    } catch (const bench::Failure& e) {
      std::cout << std::flush;
      std::cerr << "sluice bench: " << e.what() << std::endl;
      return kFailure;
    }
  };
}

void add_bench_run(CLI::App& parent, Action& action);

}  // namespace sluice::cli
