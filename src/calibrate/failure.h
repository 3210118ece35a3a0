#pragma once

#include <stdexcept>

namespace sluice::calibrate {

// The calibration cannot go on; what() says what happened, where, and what to do, for a person.
struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace sluice::calibrate
