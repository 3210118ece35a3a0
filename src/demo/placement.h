#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "demo/child.h"
#include "demo/cluster.h"
#include "demo/folder.h"

namespace sluice::demo {

// The compute hosts of a demo: one beside the users and far from the database, one the other way round.
struct ComputeHost {
  std::string name;
  std::chrono::milliseconds way{0}, database_way{0};  // see SampleAppPlan
  std::uint16_t port = 0;
};
std::vector<ComputeHost> compute_hosts();  // "edge" and "core", without ports

struct PlacementPlan {
  std::string program;                     // sluice itself
  std::uint16_t port = 0, admin_port = 0;  // of the placer
  std::uint16_t router_port = 0;
  std::vector<ComputeHost> hosts;
  User app;  // whom the sample application logs in as
  std::string database, profile_path;
};

// The configuration of the demo's placer. Pure.
std::string placer_configuration(const PlacementPlan& plan);

// The sample application on its hosts, `sluice placer` in front of them, and visitors: a child process each.
class Placement {
 public:
  // Starts hosts and placer; throws Failure when one of them ends instead of getting ready, and Stopped.
  Placement(const PlacementPlan& plan, const Folder& folder, Signals& signals);

  void let_visitors_in();
  bool placer_running() { return placer_->running(); }
  std::string placer_log() const { return end_of_log(placer_log_); }
  void stop();
  // What the visitors said at their end; empty before.
  std::string visits() const;

 private:
  void start_hosts();
  void wait_until_ready(Signals& signals);

  PlacementPlan plan_;
  const Folder& folder_;
  std::string placer_log_, visitors_log_;
  std::vector<Child> hosts_;
  std::optional<Child> placer_, visitors_;
};

}  // namespace sluice::demo
