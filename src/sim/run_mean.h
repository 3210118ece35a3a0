#pragma once

#include <numeric>
#include <vector>

namespace sluice::sim {

// Mean of what the runs came to; 0 of none.
inline double mean_of(const std::vector<double>& values) {
  if (values.empty()) return 0;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace sluice::sim
