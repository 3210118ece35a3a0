#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>

#include <asio/io_context.hpp>

#include "tests/fakes/sim_clock.h"
#include "tests/fakes/sim_connection.h"
#include "tests/fakes/sim_kernel.h"
#include "tests/fakes/sim_network.h"

namespace sluice::fakes {

// A world of its own for one event loop: while it is alive, this program's clock, sockets and timers are
// simulated. One at a time, on one thread; the event loop is made and destroyed within its life, and run by
// these functions alone. The same seed gives the same run.
class Simulation {
 public:
  explicit Simulation(std::uint64_t seed = 1);
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;
  ~Simulation();

  SimClock& clock() noexcept { return clock_; }
  const SimClock& clock() const noexcept { return clock_; }
  SimNetwork& network() noexcept { return network_; }
  SimKernel& kernel() noexcept { return kernel_; }
  Random& random() noexcept { return random_; }

  // Runs until `done`, which is asked after every event. False: nothing is left to happen, or `at_most` of
  // virtual time has gone by.
  bool run_until(asio::io_context& io, const std::function<bool()>& done, SimClock::Duration at_most);
  // Runs for that long, in virtual time.
  void run_for(asio::io_context& io, SimClock::Duration duration);
  // Runs until no byte is on its way any more: what is left are timers, and those who wait for each other.
  void settle(asio::io_context& io);

 private:
  void run_ready(asio::io_context& io);

  SimClock clock_;
  Random random_;
  SimNetwork network_;
  SimKernel kernel_;
};

// SLUICE_SEED alone if it is set, else SLUICE_SEED_COUNT seeds from 1, `count` if that is not set either.
std::vector<std::uint64_t> seeds(std::uint64_t count);

}  // namespace sluice::fakes
