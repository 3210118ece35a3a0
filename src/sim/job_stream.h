#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "sluice/stats/law.h"
#include "sluice/stats/running.h"

#include "sim/dispatcher.h"

namespace sluice::sim {

// Jobs in a Poisson stream to a few servers. Times between arrivals and sizes come from two streams of random
// numbers of their own, so that runs with one seed differ in what serves the jobs, and in nothing else.
struct JobStream {
  const stats::Law& sizes;
  double lambda = 0;          // arrivals per time
  std::uint64_t jobs = 0;     // that are counted
  std::uint64_t warm_up = 0;  // before these, and not counted; both together below 2^32
  std::uint64_t seed = 1;
  std::uint32_t ranks = 1;  // priorities, evenly drawn
};

struct StreamOutcome {
  stats::Running size, waiting, slowdown;  // of the counted jobs; waiting = response - size
  double duration = 0;                     // from time 0 until the last job has left
  double job_time = 0;                     // the integral of the number of jobs in the system
  double response_sum = 0;                 // of all jobs, not only the counted
  double work_arrived = 0;
  std::vector<double> work_done;  // per server
  std::uint64_t events = 0;       // arrivals and steps of servers
};

// Called with each counted job and its waiting time when it leaves.
using Visit = std::function<void(const Job&, double waiting)>;

// From empty to empty.
StreamOutcome run(const JobStream&, Servers, Dispatcher&, const Visit& = {});

// The `index`-th of the seeds that follow from one: for the parts of a run, and for runs that are
// independent.
std::uint64_t derived_seed(std::uint64_t seed, std::uint64_t index) noexcept;

}  // namespace sluice::sim
