#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "demo/child.h"
#include "demo/cluster.h"
#include "demo/folder.h"

namespace sluice::demo {

struct RouterPlan {
  std::string program;                      // sluice itself
  std::uint16_t port = 0, admin_port = 0;   // for clients; of the HTTP admin
  std::vector<std::uint16_t> server_ports;  // the primary's, then the standbys'
  std::string database;
  User premium, freemium, app, admin, monitor;
  std::vector<std::string> hosts;  // compute hosts, known by what the sample application says
  std::string profile_path;
};

// The configuration of the demo's router: pools Premium 2, Freemium 2, Mixed the rest. Pure.
std::string router_configuration(const RouterPlan& plan);

// `sluice router` as a child process.
class RouterProcess {
 public:
  // Writes the configuration and starts; throws Failure when it ends instead of getting ready, and Stopped.
  RouterProcess(const RouterPlan& plan, const Folder& folder, Signals& signals);

  bool running() { return child_->running(); }
  void stop();
  std::string log() const { return end_of_log(log_); }

 private:
  void wait_until_ready(const RouterPlan& plan, Signals& signals);

  std::string log_;
  std::optional<Child> child_;
};

}  // namespace sluice::demo
