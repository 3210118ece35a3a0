#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/replay.h"

namespace sluice::sim {

// What a replay is asked to try: every combination of those that are given. Empty: as recorded.
struct WhatIf {
  std::vector<policy::PolicyKind> policies;
  std::vector<std::size_t> replica_counts;  // the first of the recorded, and as many more like the first
  std::vector<std::vector<std::int64_t>> splits;  // replicas of each class, in order; the rest is Mixed
  std::vector<std::int64_t> max_active;           // of each replica; 0: no limit
  std::vector<policy::ReplicaOrder> orders;       // within a pool
  std::vector<policy::QueueDiscipline> queues;
  std::vector<double> loads;                 // arrivals so many times as fast
  std::vector<std::string> overrides;        // "premium.saturation=20", "freemium.weight=1.5"
  std::optional<policy::WeightTarget> hold;  // with proportional
  ReplayPlan::Sizes sizes = ReplayPlan::Sizes::Expected;
};

struct ReplayPlans {
  std::vector<ReplayPlan> plans;
  std::string problem;  // empty, or what cannot be tried
};
ReplayPlans plans_of(const RecordedTrace&, double cores, const WhatIf&);

// Pools as the split says: targets, and no replica with a pool of its own. Too short a split leaves the rest
// of the classes none.
void apply_split(policy::PoolConfig&, const std::vector<std::int64_t>& split);
// Least loaded in place of an order by size that the policy does not go by.
void drop_unused_order(policy::PoolConfig&);
// "" or what is wrong with an override.
std::string apply_override(policy::PoolConfig&, const std::string& text);

// The keys of a router's configuration that make it this one, as YAML; the replicas' own pools as comments.
std::string yaml_of(const policy::PoolConfig&,
                    const std::optional<policy::WeightTarget>& hold = std::nullopt);

}  // namespace sluice::sim
