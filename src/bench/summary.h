#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "bench/records.h"

namespace sluice::bench {

inline constexpr std::size_t kClassCount = 2;
inline constexpr double kLate = 0.01;  // seconds: what counts as a late start

// Response times of the queries that were meant to begin in the measured time and ended well, in seconds.
struct ResponseSummary {
  std::size_t queries = 0, errors = 0;            // errors: those that did not end well
  double mean = 0, median = 0, p95 = 0, p99 = 0;  // 0 without a query
};

struct LateSummary {
  std::size_t sessions = 0, queries = 0;  // that began more than kLate too late, in the whole run
  double worst = 0;
};

struct Summary {
  std::array<ResponseSummary, kClassCount> classes;
  ResponseSummary all;
  std::array<std::size_t, kClassCount> sessions{}, sessions_failed{};  // failed: could not begin, or broke
  std::array<double, kClassCount> session_waiting_mean{};              // of those that did not fail
  LateSummary late;
};

// Adds a run up. Keeps a number per measured query.
class Summarizer {
 public:
  void add(const QueryRecord&);
  void add(const SessionRecord&);
  Summary summary() const;

 private:
  std::array<std::vector<double>, kClassCount> responses_;
  std::array<double, kClassCount> waiting_sum_{};
  Summary sums_;  // what is counted as it comes
};

}  // namespace sluice::bench
