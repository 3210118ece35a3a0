#pragma once

#include <span>
#include <string>
#include <vector>

#include "bench/replica_spec.h"
#include "bench/run_info.h"

namespace sluice::bench {

// Seconds of processor time that each replica has used since some moment in the past, in their order; what
// has no source: 0. Throws Failure that names the replica when it cannot be read.
std::vector<double> read_cpu(std::span<const ReplicaSpec> replicas);

// What utilization 1 means of a replica, and in words where that and its processor time come from.
struct CpuBasis {
  double cores = 0;
  std::string cpu_source;    // "cgroup v1 cpuacct.usage", "cgroup v2 cpu.stat", "/proc"
  std::string cores_source;  // "cores:N", "the cgroup's quota", or kWholeMachine
};
// `cores` of its own, its cgroup's quota, or all processors of the machine. Of version 1 the quota may stand
// in another mount than the processor time: then in the folder of the same name below cpu instead of cpuacct.
std::vector<CpuBasis> read_basis(std::span<const ReplicaSpec> replicas);

}  // namespace sluice::bench
