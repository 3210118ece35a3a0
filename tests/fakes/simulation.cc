#include "tests/fakes/simulation.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "base/assert.h"

namespace sluice::fakes {
namespace {

// Handlers and events that happen without time going by: more is a loop that spins.
constexpr int kStepsAtOnceMax = 1'000'000;

SimKernel* alive = nullptr;

[[noreturn]] void spins() {
  std::fputs("the event loop spins: no virtual time goes by any more\n", stderr);
  std::abort();
}

}  // namespace

SimKernel* SimKernel::current() noexcept {
  return alive;
}

Simulation::Simulation(std::uint64_t seed)
    : random_(seed), network_(clock_, random_), kernel_(clock_, network_) {
  SLUICE_ASSERT(alive == nullptr);
  alive = &kernel_;
}

Simulation::~Simulation() {
  alive = nullptr;
}

// All that can be done without time going by.
void Simulation::run_ready(asio::io_context& io) {
  for (int steps = 0; !io.stopped(); ++steps) {
    if (steps > kStepsAtOnceMax) spins();
    if (io.poll_one() == 0 && !kernel_.has_ready()) return;
  }
}

bool Simulation::run_until(asio::io_context& io, const std::function<bool()>& done,
                           SimClock::Duration at_most) {
  const SimClock::TimePoint end = clock_.peek() + at_most;
  for (;;) {
    run_ready(io);
    if (done()) return true;
    const SimClock::TimePoint timer = io.stopped() ? SimClock::TimePoint::max() : kernel_.next_timer();
    const SimClock::TimePoint event = clock_.next();
    const SimClock::TimePoint next = std::min(timer, event);
    if (next == SimClock::TimePoint::max()) return false;
    if (next > end) {
      clock_.advance_to(end);
      return false;
    }
    event <= timer ? clock_.step() : clock_.advance_to(timer);
  }
}

void Simulation::run_for(asio::io_context& io, SimClock::Duration duration) {
  const SimClock::TimePoint end = clock_.peek() + duration;
  run_until(
      io, [] { return false; }, duration);
  clock_.advance_to(end);
}

void Simulation::settle(asio::io_context& io) {
  run_until(
      io, [this] { return clock_.idle(); }, std::chrono::hours(1));
}

std::vector<std::uint64_t> seeds(std::uint64_t count) {
  if (const char* only = std::getenv("SLUICE_SEED")) return {std::strtoull(only, nullptr, 10)};
  if (const char* more = std::getenv("SLUICE_SEED_COUNT")) count = std::strtoull(more, nullptr, 10);
  std::vector<std::uint64_t> all;
  for (std::uint64_t seed = 1; seed <= count; ++seed)
    all.push_back(seed);
  return all;
}

}  // namespace sluice::fakes
