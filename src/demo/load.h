#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "demo/child.h"
#include "demo/cluster.h"
#include "demo/folder.h"
#include "demo/wave_plan.h"

namespace sluice::demo {

// The sample load: pgbench runs against the router, by the plan of waves.
class Load {
 public:
  struct Settings {
    std::string programs;    // folder of pgbench
    std::uint16_t port = 0;  // the router's
    std::string database;
    std::vector<User> users;  // one per class
  };
  Load(Settings settings, const Folder& folder);

  // Starts the waves that are due and reaps the runs that have ended. Call some times per second.
  void advance(Clock::time_point now);
  Millis time(Clock::time_point now) const { return std::chrono::duration_cast<Millis>(now - begun_); }
  void stop();
  int runs() const noexcept { return runs_; }
  int failed_runs() const noexcept { return failed_runs_; }
  // What pgbench said when a run failed first; empty when none did.
  const std::string& first_failure() const noexcept { return first_failure_; }

 private:
  void start(const Wave& wave);

  Settings settings_;
  const Folder& folder_;
  Clock::time_point begun_ = Clock::now();
  Millis planned_until_{0};
  struct Run {
    Child process;
    std::string log;
  };
  std::vector<Run> running_;
  std::string first_failure_;
  int runs_ = 0, failed_runs_ = 0;
};

}  // namespace sluice::demo
