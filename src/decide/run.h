#pragma once

#include <iosfwd>
#include <optional>

#include "sluice/policy/pool_config.h"

namespace sluice::decide {

enum class RunResult { Complete, BadLine, OutputFailed };

// Reads events from `in`, one JSON object per line, until its end or the first bad line, and answers each
// open with a line on `out`, flushed at once so that a program may talk to it. At the end comes the state
// line; a bad line ends without it and with "line N: reason" on `err`, N from 1. Blank lines are passed over.
// A configuration given here takes the place of a first config event; problem_of(it) must be nullopt.
RunResult run(std::istream& in, std::ostream& out, std::ostream& err,
              const std::optional<policy::PoolConfig>& initial = std::nullopt);

}  // namespace sluice::decide
