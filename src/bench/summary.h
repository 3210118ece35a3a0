#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "bench/records.h"

namespace sluice::bench {

inline constexpr std::size_t kClassCount = 2;
inline constexpr double kLate = 0.01;  // seconds: what counts as a late start

// A statistic of times, in seconds. at_least: it is a lower bound, since it rests on a time that is one.
struct Time {
  double seconds = 0;
  bool at_least = false;
};

// What was not served, by why.
struct Losses {
  std::size_t timed_out = 0, cut = 0, refused = 0, failed = 0;

  std::size_t total() const noexcept { return timed_out + cut + refused + failed; }
  std::size_t given_up() const noexcept { return timed_out + cut; }
  double share(std::size_t served) const noexcept;  // of these and what was served; 0 of none
  void add(Fate) noexcept;                          // Served: nothing
  Losses& operator+=(const Losses&) noexcept;
};

// Response times of the queries that were meant to begin in the measured time. A query that was given up
// counts with the time that it had taken (censored on the right): leaving it out would favour who serves
// less. Refused and failed ones have no response time, and are counted alone.
struct ResponseSummary {
  std::size_t queries = 0;  // that ended well
  Losses lost;
  Time mean, median, p95, p99;  // 0 of none

  std::size_t samples() const noexcept { return queries + lost.given_up(); }
  double lost_share() const noexcept;  // of all that were asked; 0 of none
};

// The same of how long sessions waited from their planned arrival until they could ask, of those that arrived
// in the measured time. One that was connected when the run had no time left is cut, as it asked nothing and
// is in no response time.
struct WaitingSummary {
  std::size_t sessions = 0;  // that could ask
  Losses lost;               // that never could
  Time mean, median, p95;
};

struct LateSummary {
  std::size_t sessions = 0, queries = 0;  // that began more than kLate too late, in the whole run
  double worst = 0;

  LateSummary& operator+=(const LateSummary&) noexcept;
};

struct Summary {
  std::array<ResponseSummary, kClassCount> classes;
  ResponseSummary all;
  std::array<std::size_t, kClassCount> sessions{}, sessions_failed{};  // of the whole run; failed: could not
                                                                       // begin, or broke
  std::array<WaitingSummary, kClassCount> waiting;
  LateSummary late;
};

// Times, and which of them are lower bounds.
struct Samples {
  std::vector<double> values;  // all of them
  std::vector<double> bounds;  // those of the values that are lower bounds

  void add(double seconds, Fate fate);
  void add(const Samples&);
};

// Adds a run up. Keeps a number per measured query and session.
class Summarizer {
 public:
  void add(const QueryRecord&);
  void add(const SessionRecord&);
  Summary summary() const;

 private:
  std::array<Samples, kClassCount> responses_, waiting_;
  Summary sums_;  // what is counted as it comes
};

}  // namespace sluice::bench
