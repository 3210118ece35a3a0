#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sluice/placement/calibration.h"
#include "sluice/placement/policy.h"

#include "sim/table.h"

namespace sluice::sim {

// The sweep over serial calls of "Placing Compute Along the Database Request Path": which compute host each
// policy picks for a route with so many database calls one after the other, by the placer's own cost model.

struct SweepHost {
  std::string name;
  placement::HostInputs inputs;  // path, sql and residual known; connect where connections are not reused
};

struct PlacementPlan {
  std::vector<SweepHost> hosts;  // 2 or more; ties go to the earlier
  std::vector<double> calls = {0, 1, 3, 6, 12, 24, 48};
  placement::UpstreamConnection upstream = placement::UpstreamConnection::Reused;
};

// The two hosts of the article's sweep: its measured zero-call routes, with round trips and health pages
// built so that its predicted crossovers come out, 3.55 calls without residuals and 1.62 with.
PlacementPlan published_sweep();

struct SweepRow {
  double calls = 0;
  std::vector<placement::Millis> score;                        // per host, with residuals
  std::size_t user_first = 0, network_only = 0, profiled = 0;  // hosts picked
  placement::Millis lost{};  // by network_only against profiled, in the model's own terms
};
std::vector<SweepRow> sweep(const PlacementPlan&);

// From where on the second of two hosts scores less; nothing where it never does, or from no call on.
struct Crossover {
  std::size_t near = 0, far = 0;
  std::optional<double> network_only, profiled;
};
// For each pair whose far host has the dearer path.
std::vector<Crossover> crossovers(const PlacementPlan&);

Table sweep_table(const PlacementPlan&, const std::vector<SweepRow>&);
Table crossover_table(const PlacementPlan&, const std::vector<Crossover>&);

}  // namespace sluice::sim
