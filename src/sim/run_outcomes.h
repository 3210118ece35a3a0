#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "sluice/stats/comparison.h"
#include "sluice/stats/interval.h"

namespace sluice::sim {

// What all runs of an experiment came to: those of its first cell, then of its second, ... Different elements
// may be written by different threads. `Outcome` has the member `events`.
template <class Outcome>
class RunOutcomes {
 public:
  void resize(std::size_t cells, std::size_t runs) {
    runs_ = runs;
    outcomes_.resize(cells * runs);
  }

  std::size_t size() const noexcept { return outcomes_.size(); }
  Outcome& operator[](std::size_t index) noexcept { return outcomes_[index]; }
  const Outcome& of(std::size_t cell, std::size_t run) const noexcept {
    return outcomes_[cell * runs_ + run];
  }

  std::uint64_t event_count() const noexcept {
    std::uint64_t sum = 0;
    for (const Outcome& outcome : outcomes_)
      sum += outcome.events;
    return sum;
  }

  // Of the mean over a cell's runs.
  std::optional<stats::Interval> interval(std::size_t cell, double Outcome::*value, double confidence) const {
    std::vector<double> sample;
    for (std::size_t run = 0; run < runs_; ++run)
      sample.push_back(of(cell, run).*value);
    return stats::mean_interval(sample, confidence);
  }

 private:
  std::size_t runs_ = 0;
  std::vector<Outcome> outcomes_;
};

}  // namespace sluice::sim
