#pragma once

#include <string>
#include <vector>

#include "sluice/policy/pool_config.h"

namespace sluice::policy {

// The cases of tests/golden/plb.yaml, read into values; classes are premium and freemium, replicas r0, r1,
// ...

struct GoldenReplica {
  std::string pool;  // "premium", "freemium", "mixed"
  bool borrowed = false;
  bool up = true;
  std::int64_t premium = 0;
  std::int64_t freemium = 0;

  friend bool operator==(const GoldenReplica&, const GoldenReplica&) = default;
};

struct GoldenChange {
  std::string replica, from, to, kind;

  friend bool operator==(const GoldenChange&, const GoldenChange&) = default;
};

struct GoldenStep {
  bool close = false;   // else an arrival
  std::string of;       // class
  std::string replica;  // closed at, or chosen
  std::string outcome;  // outcome_name
  std::vector<GoldenChange> changes;
};

struct GoldenCase {
  std::string id;
  std::vector<ClassParams> classes;
  std::vector<std::int64_t> watermarks;  // expected, empty if the case does not say
  std::vector<GoldenReplica> state;
  std::vector<GoldenStep> steps;
  std::vector<GoldenReplica> final;  // expected, empty if the case does not say

  PoolConfig config() const;
};

// All cases; throws on a file it cannot read.
std::vector<GoldenCase> golden_cases();

}  // namespace sluice::policy
