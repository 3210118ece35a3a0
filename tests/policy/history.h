#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sluice/policy/assignment.h"

#include "tests/policy/oracle.h"

namespace sluice::policy {

// What may happen in a random history besides sessions that open and close.
struct HistoryKind {
  std::size_t class_count = 2;
  std::size_t replica_count = 5;
  bool failures = false;    // replicas go down, come back, drain
  bool exclusions = false;  // sessions that failed to connect to some replicas
  bool reloads = false;     // classes and replicas added, removed, reordered, thresholds changed
  int steps = 200;
};

// Plays one seeded history on an Assignment and on the Oracle, step by step, and compares each answer and the
// whole state after it; also checks what must hold whatever the policy: sums, floors and targets, no change
// of role outside admissions. Gives the first disagreement, "" if there is none.
std::string play_history(const HistoryKind&, std::uint64_t seed);

// A configuration with small thresholds, so that saturation, borrowing and returns happen all the time.
PoolConfig random_config(std::size_t class_count, std::size_t replica_count, Rng&);

// SLUICE_SEED alone if it is set, else SLUICE_SEED_COUNT seeds from 1, `count` if that is not set either.
std::vector<std::uint64_t> seeds(std::uint64_t count);

}  // namespace sluice::policy
