#pragma once

#include <chrono>
#include <string>

namespace sluice::top {

struct Settings {
  std::string conninfo;  // see ConsoleClient
  std::chrono::milliseconds interval{2000};
  bool once = false;  // print one page, whose rates are of one interval, and end
};

// Shows the router until a key or a signal ends it. Returns the exit code: 0, or 1 where the console could
// not be reached at all.
int run(const Settings& settings);

}  // namespace sluice::top
