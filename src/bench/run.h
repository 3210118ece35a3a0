#pragma once

#include <functional>

#include "bench/run_options.h"

namespace sluice::bench {

enum class Outcome { Done, Interrupted };

// Called several times a second with how many seconds of the duration are over.
using OnProgress = std::function<void(double seconds)>;

// One run, from the first arrival to the last answer, into its folder. Blocks. SIGINT and SIGTERM end it, and
// leave no folder. Throws Failure: nothing could be measured.
struct RunResult {
  Outcome outcome = Outcome::Done;
  RunInfo info;
};
RunResult run(const RunOptions& options, const OnProgress& on_progress);

}  // namespace sluice::bench
