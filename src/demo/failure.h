#pragma once

#include <stdexcept>

namespace sluice::demo {

// The demo cannot go on; what() says why and what to do about it, in words for a person. Unwinding stops
// every process and removes the folder.
struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// SIGINT, SIGTERM or SIGHUP came while something was waited for. Unwinding cleans up as above.
struct Stopped {
  int signal = 0;
};

}  // namespace sluice::demo
