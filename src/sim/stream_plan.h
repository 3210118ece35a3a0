#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sluice/stats/law.h"

namespace sluice::sim {

// Jobs in a Poisson stream, for each alpha and each load, and how often they are run.
struct StreamPlan {
  double mean = 3000;  // of the sizes, bounded Pareto up to `size_max`
  double size_max = 1e5;
  std::vector<double> alphas = {1.1, 1.5};
  std::vector<double> loads = {0.5, 0.8};  // of the system: lambda E[X] / hosts
  std::uint64_t jobs = 200'000;            // per run, after a tenth more of warm-up
  std::size_t runs = 10;                   // 0: formulas alone; else 2 or more
  std::uint64_t seed = 1;
  double confidence = 0.95;

  stats::BoundedPareto law(double alpha) const {
    return stats::BoundedPareto::with_mean(mean, size_max, alpha);
  }
};

}  // namespace sluice::sim
