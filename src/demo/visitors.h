#pragma once

#include <cstdint>

namespace sluice::demo {

// Visitors of the sample application: requests through the placer, some for a page of one query and some for
// one of many, until SIGTERM or SIGINT. Ends with a line on standard output, "N visits, N failed"; the first
// failure is said on standard error. Returns the exit code: 0.
int run_visitors(std::uint16_t placer_port);

}  // namespace sluice::demo
