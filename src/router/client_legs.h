#pragma once

#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "router/leg_estimator.h"

namespace sluice::router {

// The client legs of all hosts. Worker threads put their readings in, in batches on a timer; console, metrics
// and profile look. A host whose clients are gone keeps its last values, whose age tells. Any thread.
class ClientLegs {
 public:
  using Batch = std::vector<std::pair<std::string, LegReading>>;  // with the host's name
  using Legs = std::map<std::string, LegEstimator::Leg>;

  void add(const Batch& batch);
  Legs all() const;
  // Forgets all but these: what a reload has removed.
  void keep_only(const std::vector<std::string>& hosts);

 private:
  mutable std::mutex mutex_;
  std::map<std::string, LegEstimator> hosts_;
};

}  // namespace sluice::router
