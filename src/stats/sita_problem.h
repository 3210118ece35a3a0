#pragma once

#include <optional>
#include <vector>

#include "sluice/stats/sita.h"

namespace sluice::stats {

// What an interval of sizes adds to the objective of a search for cutoffs.
struct SizeInterval {
  double load = 0, second = 0, weight = 0;  // E[X], E[X^2] and E[X^0] or E[X^-1] within it

  friend SizeInterval operator+(const SizeInterval& a, const SizeInterval& b) {
    return {a.load + b.load, a.second + b.second, a.weight + b.weight};
  }
  friend SizeInterval operator-(const SizeInterval& a, const SizeInterval& b) {
    return {a.load - b.load, a.second - b.second, a.weight - b.weight};
  }
};

struct SitaProblem {
  const Law& law;
  double lambda;
  SitaSearch search;

  SizeInterval interval(double a, double b) const {
    const double order = search.objective == SitaObjective::Slowdown ? -1 : 0;
    return {law.partial_moment(1, a, b), law.partial_moment(2, a, b), law.partial_moment(order, a, b)};
  }
  double cost(const SizeInterval& in) const {
    const double utilization = lambda * in.load;
    if (utilization >= search.utilization_max) return kInfinity;
    return lambda * in.second / (2 * (1 - utilization)) * in.weight;
  }
};

// The best hosts - 1 of the points, ascending, whose intervals have loads that do not fall from one host to
// the next; nullopt when there are none. O(hosts points^2).
std::optional<std::vector<double>> best_ascending(const SitaProblem&, std::vector<double> points,
                                                  std::size_t hosts);

}  // namespace sluice::stats
