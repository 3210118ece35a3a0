#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "demo/folder.h"

namespace sluice::demo {

struct Options {
  std::optional<std::chrono::seconds> length;  // none: until it is interrupted
  std::optional<std::uint16_t> port;           // of the router; none: 6432 if free, else any
  Afterwards afterwards = Afterwards::Remove;
};

// Runs the whole demo: servers, router, sample application on two compute hosts, placer, load, and a live
// table on standard output, errors on standard error.
// Everything it started is gone when it returns. The exit code: 0 after `length`, or when it was interrupted
// while the table was on; 1 when it could not be started or something ended by itself; 128 + signal when it
// was interrupted before.
int run(const Options& options);

}  // namespace sluice::demo
