#pragma once

#include <string>

#include "bench/run_info.h"

namespace sluice::bench {

// A run with plausible numbers in every field.
inline RunInfo example_run(const std::string& strategy, std::size_t terminals, double share,
                           std::size_t repetition, double median) {
  RunInfo info;
  info.key.strategy = strategy;
  info.key.budget = 5;
  info.key.workload = "pareto";
  info.key.terminals = terminals;
  info.key.premium_share = share;
  info.key.repetition = repetition;
  info.server = "127.0.0.1:6432/app";
  info.began = "2026-01-02T03:04:05Z";
  info.measured_seconds = 50;
  for (ResponseSummary* s : {&info.summary.classes[0], &info.summary.classes[1], &info.summary.all})
    *s = {100, 1, median * 1.1, median, median * 3, median * 4};
  info.summary.sessions = {10, 20};
  info.summary.sessions_failed = {1, 2};
  info.summary.session_waiting_mean = {0.5, 0.25};
  info.summary.late = {3, 4, 0.125};
  info.replicas = {{"r0", "127.0.0.1:5433", 10, 0.25, 0.8}, {"r1", "127.0.0.1:5434", 5, 0.25, 0.4}};
  return info;
}

}  // namespace sluice::bench
