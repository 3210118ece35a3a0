#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sluice/policy/assignment.h"

#include "sim/held_weight.h"
#include "sim/job_stream.h"

namespace sluice::sim {

// The evaluation of "PLB: Priority-Aware Load Balancing for Replicated Databases under Constrained Resources"
// (Djeffal, Bourhis and Rouvoy, 2026) as a model: sessions of two classes arrive in a Poisson stream, stay on
// the replica that the policy gives them, send one query after the other with a pause between, and end with
// the first query that is answered after their lifetime. Replicas share their processors evenly, and one
// query uses only so many cores. Times in seconds, demands in core-seconds.
struct PlbWorkload {
  // Other arrivals from a moment on: a step that what adapts itself must follow.
  struct Phase {
    double begins = 0;
    double sessions = 0, premium_share = 0;
  };

  double sessions = 1000;      // T: arrivals expected within the duration
  double premium_share = 0.5;  // of the sessions
  double duration = 180;       // D
  double lifetime_min = 10, lifetime_max = 30;
  double think_mean = 2;                    // pause behind each query, exponential
  double demand_mean = 5, demand_cv = 0.8;  // of a query, lognormal
  double storage_mean = 0;                  // what a query waits before its work, exponential
  double cores = 18, cores_per_query = 1;   // of a replica
  std::vector<Phase> phases;                // in order; before the first, as above
  std::uint64_t seed = 1;
};

// What assigns the sessions: the router's own policy::Assignment under this configuration.
struct Strategy {
  std::string name;
  policy::PoolConfig config;
  std::optional<WeightHold>
      hold;  // of the weight of the highest class; it begins with that of the configuration
};
// 5PLB, 5RR, 3RR+2RR, 4RR+1RR (static pools for Premium and Freemium, round robin inside each) and
// least_loaded, with the paper's parameters: five replicas, theta 10 and 10, alpha 0.60 and 0.80, K 2 and 2,
// kappa_F 1.
std::vector<Strategy> paper_strategies();
// The same replicas under PolicyKind::Proportional, Freemium weighing 1: "proportional/1.5".
Strategy proportional_strategy(Weight premium);
// With a weight that begins at 1 and holds a target: "proportional/median:0.8".
Strategy held_strategy(const policy::WeightTarget&);

inline constexpr std::size_t kClassCount = 2;  // Premium, Freemium

struct ClassOutcome {
  std::uint64_t sessions = 0, queries = 0;
  double mean = 0, median = 0, p95 = 0;  // response times of queries; 0 without any
};

struct PlbOutcome {
  ClassOutcome classes[kClassCount];
  ClassOutcome all;
  std::vector<double> utilization;  // u_i over the duration: share of the replica's cores in use
  double mean_utilization = 0;      // u
  double utilization_cv = 0;        // CV(u), population standard deviation
  std::uint64_t borrowings = 0, returns = 0;
  std::vector<HeldWeight::Step> weights;  // of a strategy that holds one
  std::uint64_t events = 0;
};

// One run. The same seed brings the same sessions with the same lifetimes, demands and pauses, whatever the
// strategy: only where they go differs. Deterministic.
PlbOutcome run(const PlbWorkload&, const Strategy&);

}  // namespace sluice::sim
