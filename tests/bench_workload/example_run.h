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
  info.key.digest = "0123456789abcdef";
  info.key.terminals = terminals;
  info.key.premium_share = share;
  info.key.repetition = repetition;
  info.server = "127.0.0.1:6432/app";
  info.began = "2026-01-02T03:04:05Z";
  info.measured_seconds = 50;
  for (ResponseSummary* s : {&info.summary.classes[0], &info.summary.classes[1], &info.summary.all})
    *s = {
        100, {0, 0, 1, 0}, {median * 1.1, false}, {median, false}, {median * 3, false}, {median * 4, false}};
  info.summary.sessions = {10, 20};
  info.summary.sessions_failed = {1, 2};
  info.summary.waiting[0] = {9, {0, 1, 0, 0}, {0.5, true}, {0.4, false}, {2, true}};
  info.summary.waiting[1] = {20, {}, {0.25, false}, {0.2, false}, {1, false}};
  info.summary.late = {3, 4, 0.125};
  info.replicas = {{"r0", "127.0.0.1:5433", 10, 0.25, 0.8, "/proc", "cores:N"},
                   {"r1", "127.0.0.1:5434", 5, 0.25, 0.4, "/proc", "cores:N"}};
  return info;
}

}  // namespace sluice::bench
