#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "sluice/placement/adaptive.h"
#include "sluice/placement/cost.h"
#include "sluice/placement/policy.h"

#include "config/placer_config.h"
#include "http/head.h"
#include "net/tls_context.h"
#include "placer/forward_head.h"
#include "placer/host_state.h"
#include "placer/route_table.h"
#include "telemetry/labels.h"

namespace sluice::placer {

// What adaptive has learnt: one for all threads, so that requests in flight count wherever they came in.
struct Learner {
  Learner(std::size_t routes, std::size_t hosts, const placement::AdaptiveSettings& settings)
      : adaptive(routes, hosts, settings) {}
  std::mutex mutex;
  placement::Adaptive adaptive;
};

// A configuration with all that is made from it. Immutable, but for what it points to that says so.
struct Snapshot {
  std::shared_ptr<const config::PlacerConfig> config;
  RouteTable table;
  std::vector<HostPtr> hosts;  // as config->compute_hosts
  ForwardPolicy forward;
  http::HeadLimits request_limits, response_limits;
  std::shared_ptr<const net::TlsContext> tls;  // null without listen_tls_port
  std::vector<telemetry::HostLabel> host_labels;
  std::vector<telemetry::RouteLabel> route_labels;  // as config->routes, and that of no route behind them
  std::shared_ptr<Learner> learner;                 // null unless the policy is adaptive

  const config::PlacerOptions& options() const noexcept { return config->options; }
};
using SnapshotPtr = std::shared_ptr<const Snapshot>;

// What is known for the requests of one route now.
struct RouteView {
  placement::RouteInputs inputs;
  std::vector<placement::HostInputs> hosts;  // as Snapshot::hosts
  placement::Effective effective;            // what the wanted policy comes down to
  std::string why;                           // for people: why it came down; "" when it did not
};

// What the control thread found out, for the threads that decide: replaced whole some times a second.
struct View {
  SnapshotPtr snapshot;
  std::vector<RouteView> routes;  // as config->routes, and that of no route behind them, which is user_first
};
using ViewPtr = std::shared_ptr<const View>;

}  // namespace sluice::placer
