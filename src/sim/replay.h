#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "sluice/policy/admission_queue.h"
#include "sluice/stats/interval.h"

#include "sim/demand.h"
#include "sim/held_weight.h"
#include "sim/table.h"

namespace sluice::sim {

// A recorded history once more, under a policy, pools, replicas and a load that may be others: the same
// guests ask, with the same queries and pauses, and the replicas behind the router's own admission share
// their cores.
struct ReplayPlan {
  // What is known of a guest's size when it asks.
  enum class Sizes {
    Expected,  // what the router expected when it was recorded
    Measured,  // what it will have asked for: as if nobody were ever wrong
  };

  std::string name;           // for tables
  policy::PoolConfig config;  // classes by the name of the recorded; problem_of(config) is nullopt
  double cores = std::numeric_limits<double>::infinity();  // of a replica, as for the demands
  double load = 1;  // guests come so many times as fast; their pauses stay
  policy::QueueSettings queue;
  Sizes sizes = Sizes::Expected;
  std::optional<WeightHold> hold;
};

// Response times of queries: the wait for a replica counts in that of a guest's first one. Seconds.
struct ReplayClass {
  std::string name;
  std::uint64_t guests = 0, queries = 0;
  double mean = 0, median = 0, p95 = 0;  // 0 without any
  double waiting_mean = 0;               // of all guests, for a replica
  std::vector<double> slice_means;  // by when guests came, in equal parts; those without queries are left out
};

struct ReplayOutcome {
  std::vector<ReplayClass> classes;  // highest first, and then all of them together
  std::uint64_t borrowings = 0, returns = 0, events = 0;
  std::uint64_t refused = 0;
  double weight = 0;  // held at the end; 0 where none is
};

inline constexpr std::size_t kReplaySlices = 10;

// Whether order or queue ask for sizes.
bool goes_by_size(const ReplayPlan&) noexcept;

// As it was recorded.
ReplayOutcome recorded_outcome(const RecordedTrace&);
// As it would be. Deterministic. `happened`: where given, becomes what a recording of it would hold.
ReplayOutcome replay(const RecordedTrace&, const Demands&, const ReplayPlan&,
                     RecordedTrace* happened = nullptr);

// How well a replay under the recorded policy gives what was recorded.
struct ReplayCheck {
  struct Row {
    std::string name;
    double recorded = 0, replayed = 0;  // medians, seconds
    double error = 0;                   // relative
  };
  std::vector<Row> rows;  // of the classes with queries
  double worst = 0;
  bool passes = false;  // worst <= tolerance
};
ReplayCheck check_replay(const ReplayOutcome& recorded, const ReplayOutcome& replayed, double tolerance);

Table check_table(const ReplayCheck&);
// A row for each outcome and class; with the change against the first outcome, and its interval by slices.
struct NamedOutcome {
  std::string name;
  ReplayOutcome outcome;
};
Table replay_table(const std::vector<NamedOutcome>&);
Table replay_csv(const std::vector<NamedOutcome>&);

// ln of the mean response time over that of `base`, slice by slice, as a relative change; nullopt with fewer
// than three slices that both have.
std::optional<stats::Interval> change_by_slices(const ReplayClass& base, const ReplayClass& other);

}  // namespace sluice::sim
