#pragma once

#include <cstdint>
#include <string>

#include "sluice/policy/admission_queue.h"

namespace sluice::policy {

struct QueueHistoryKind {
  PolicyKind policy = PolicyKind::Plb;
  std::size_t class_count = 2;
  std::size_t replica_count = 4;
  bool failures = false;    // replicas go down, come back, drain
  bool exclusions = false;  // requests that failed to connect to a replica
  bool gates = false;       // two databases with limits of their own
  bool reloads = false;     // limits, thresholds and the order of classes change
  bool sizes = false;       // of requests, mostly known
  QueueDiscipline discipline = QueueDiscipline::Fcfs;
  ReplicaOrder order = ReplicaOrder::LeastLoaded;
  int steps = 300;
};

// Plays one seeded history on an AdmissionQueue and on a model that keeps a plain list, sorts it before each
// grant and asks a second Assignment about every waiter. Compares who is given what, in which order, and all
// loads and roles. Gives the first disagreement, "" if there is none.
std::string play_queue_history(const QueueHistoryKind&, std::uint64_t seed);

}  // namespace sluice::policy
