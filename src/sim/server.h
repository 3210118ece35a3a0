#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

namespace sluice::sim {

inline constexpr double kNever = std::numeric_limits<double>::infinity();

// Virtual time and sizes are doubles in a unit of the caller's choice; a server of one core does work 1 in
// time 1.
struct Job {
  double arrived = 0;
  double size = 0;         // work, in core-time
  std::uint32_t rank = 0;  // priority where a discipline looks at it; 0 goes first
  std::uint32_t id = 0;    // the caller's
};

// Serves jobs in virtual time by some discipline. Does nothing by itself: the caller looks for the earliest
// next_event() of all, and makes that server step(). The same calls give the same bits everywhere.
// Errors: time that runs backwards is the caller's fault and ends the program.
class Server {
 public:
  virtual ~Server() = default;
  // now <= next_event().
  virtual void arrive(double now, const Job&) = 0;
  // When the next job ends, or the server changes between jobs; kNever when it has none.
  virtual double next_event() const noexcept = 0;
  // What is due at next_event(). The job that has ended, if one has.
  virtual std::optional<Job> step() = 0;

  virtual std::size_t job_count() const noexcept = 0;  // waiting or served
  virtual double unfinished_work(double now) const noexcept = 0;
  // Work done since the start: its rate is the number of busy cores.
  virtual double work_done(double now) const noexcept = 0;
};

}  // namespace sluice::sim
