#pragma once

#include <cstdint>
#include <vector>

#include "sluice/policy/weight_controller.h"

namespace sluice::sim {

// A weight that policy::WeightController holds to its target, looked at every `period` seconds.
struct WeightHold {
  policy::WeightController::Settings settings;
  double period = 5;
};

// The evidence for it, collected in virtual time: the driver of the controller in a simulation.
class HeldWeight {
 public:
  struct Step {
    double time = 0, weight = 1;
    double ratio = 1;  // measured over goal
  };

  HeldWeight(const WeightHold&, double initial_weight);

  // `lowest`: of the lowest class; else of the highest. Those between do not matter.
  enum class Whose { Highest, Lowest };
  void answered(Whose, double response);
  void session_ended() noexcept { ++ended_; }

  double next_look() const noexcept { return next_look_; }
  // At next_look(): whether the weight is another.
  bool look(std::size_t open_sessions);
  double weight() const noexcept { return controller_.weight(); }
  const std::vector<Step>& steps() const noexcept { return steps_; }

 private:
  double value_of(std::vector<double>& responses) const;

  WeightHold hold_;
  policy::WeightController controller_;
  std::vector<double> highest_, lowest_;  // since the evidence that was last used
  std::uint64_t ended_ = 0;
  double next_look_;
  std::vector<Step> steps_;
};

}  // namespace sluice::sim
