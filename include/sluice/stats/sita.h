#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "sluice/stats/mg1.h"

namespace sluice::stats {

// Size Interval Task Assignment: h hosts of speed 1, first come first served; host i gets the jobs with size
// in (x_{i-1}, x_i], x_0 = 0, x_h = infinity. Sources: Harchol-Balter, Crovella and Murta, "On Choosing a
// Task Assignment Policy for a Distributed Server System", 1998 (SITA-E); Crovella, Harchol-Balter and Murta,
// "Task Assignment in a Distributed System: Improving Performance by Unbalancing Load", 1998 (SITA-V). Shape:
// cutoffs x_1..x_{h-1}, ascending; lambda is the rate of all arrivals.

// Which host gets a job of this size: 0 is the one for the smallest.
std::size_t sita_host(std::span<const double> cutoffs, double size) noexcept;

struct SitaHost {
  double job_share = 0;    // of all jobs
  double utilization = 0;  // rho_i
  double waiting = 0;      // mean over its jobs
};

struct SitaAnalysis {
  JobMoments jobs;
  std::vector<SitaHost> hosts;
};

// Each host is an M/G/1 queue. Infinite where a host is not stable.
SitaAnalysis analyse_sita(const Law&, double lambda, std::span<const double> cutoffs);

// SITA-E: each host gets the same work. Does not depend on lambda. 1 <= hosts. For an Empirical law the value
// nearest to an even share; cutoffs may then be equal, which leaves hosts without jobs.
std::vector<double> sita_e_cutoffs(const Law&, std::size_t hosts);

enum class SitaObjective {
  Slowdown,  // SITA-V: the least mean slowdown
  Waiting,   // the least mean waiting time (W-opt)
};
enum class SitaLoads {
  Any,        // whatever is best
  Ascending,  // no host less loaded than one for smaller jobs, as the authors of SITA-V describe it
};
struct SitaSearch {
  SitaObjective objective = SitaObjective::Slowdown;
  SitaLoads loads = SitaLoads::Any;
  // No host may be loaded as much as this or more: the optimum for alpha < 1 runs the last one near 1.
  double utilization_max = 1;
  std::size_t grid = 400;  // points of the first search
};

// The cutoffs with the least objective, by dynamic programming over a grid of sizes, half of them evenly
// spread in ln x and half in load, and then over windows around each cutoff that shrink: the objective is a
// sum over intervals, so the best on a grid is found for certain. nullopt when the load cannot be carried.
// O(h grid^2). For an Empirical law the first search alone, over its values; cutoffs may then be equal.
std::optional<std::vector<double>> sita_cutoffs(const Law&, double lambda, std::size_t hosts,
                                                const SitaSearch& = {});

}  // namespace sluice::stats
