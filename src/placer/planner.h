#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "calibration/calibration.h"
#include "placer/prober.h"
#include "placer/snapshot.h"
#include "profile/contents.h"

namespace sluice::placer {

// What there is to place by, besides the configuration.
struct Knowledge {
  std::vector<HostReport> hosts;            // as Snapshot::hosts
  std::optional<profile::Profile> profile;  // the last one read
  std::string profile_problem;              // why there is none, for people; "" when none is configured
  std::shared_ptr<const calibration::Calibration> calibration;  // null: none
  std::string calibration_problem;  // why the file as it is now is not used, for people; else ""
};

// Why a profile is not believed, for people; "" when it is.
std::string distrust(const profile::Profile& profile, const config::PlacerOptions& options,
                     std::chrono::steady_clock::time_point now);

// Turns what is known into what each route is placed by. Pure.
//   path, client, connect  as measured here, else as calibrated
//   sql                    the profile's round trip on the primary; for replicas the mean over those that are
//   up, weighted
//                          by the shares of the route's class; else SELECT 1 of the calibration
//   n_serial               as the route's configuration says; an observed one counts with min_route_requests
//   and at most
//                          max_untraced_share, else the calibrated one stands in
//   residual               of the calibration, taken for that n_serial; else the profile's
// What is older than its limit counts as not known, so that a policy comes down to what can be followed and
// comes back by itself.
View make_view(SnapshotPtr snapshot, const Knowledge& knowledge, std::chrono::steady_clock::time_point now);

// What the daemon follows now, for /healthz, the log and metrics.
struct PolicyState {
  bool degraded = false;             // some route is not placed by the wanted policy
  std::string summary;               // "profiled for 3 of 4 routes; user_first for 1"
  std::vector<std::string> reasons;  // one per cause, the first routes named
};
PolicyState policy_state(const View& view, const Knowledge& knowledge);

}  // namespace sluice::placer
