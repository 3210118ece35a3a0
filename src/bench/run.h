#pragma once

#include <cstddef>
#include <functional>

#include "bench/run_options.h"

namespace sluice::bench {

enum class Outcome { Done, Interrupted };

// What a run waits for when nothing begins any more. Answers: the last ones, one of each terminal that is
// still open. Cancels: the end, at the server, of queries that were given up.
enum class Awaiting { Nothing, Answers, Cancels };

// How far a run has come.
struct Standing {
  double seconds = 0;  // of the duration that are over
  Awaiting awaiting = Awaiting::Nothing;
  std::size_t count = 0;  // of what is awaited
  double at_most = 0;     // seconds for which it still is
};
// Called several times a second.
using OnProgress = std::function<void(const Standing&)>;

// One run, from the first arrival to the last answer, into its folder. Blocks. SIGINT and SIGTERM end it, and
// leave no folder. Throws Failure: nothing could be measured.
struct RunResult {
  Outcome outcome = Outcome::Done;
  RunInfo info;
};
RunResult run(const RunOptions& options, const OnProgress& on_progress);

}  // namespace sluice::bench
