#pragma once

#include <span>
#include <vector>

#include "bench/replica_spec.h"

namespace sluice::bench {

// Seconds of processor time that each replica has used since some moment in the past, in their order; what
// has no source: 0. Throws Failure that names the replica when it cannot be read.
std::vector<double> read_cpu(std::span<const ReplicaSpec> replicas);

// What utilization 1 means of each: `cores` of its own, its cgroup's quota, or all processors of the machine.
std::vector<double> read_cores(std::span<const ReplicaSpec> replicas);

}  // namespace sluice::bench
