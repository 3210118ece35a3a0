#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "sluice/placement/adaptive.h"

namespace sluice::placement {

// Requests of one route, placers that place them, and hosts that serve them, in virtual time. Arrivals are
// Poisson; a host serves `servers` requests side by side, first come first served.

struct SimulatedHost {
  std::function<double(double t_s)> mean_ms;  // response time of an idle host, by the time of arrival
  std::size_t servers = 64;
  HostInputs known;  // what the placers' model says of it
};

struct Simulated {
  std::vector<SimulatedHost> hosts;
  RouteInputs route{.n_serial = 12};
  Policy policy = Policy::Adaptive;
  AdaptiveSettings settings{};
  std::size_t placers = 1;
  double rate_per_s = 100;  // of each placer
  double duration_s = 60;
  double tail = 0.1;         // share of the mean response time that is exponential, the rest is a floor
  double outlier_share = 0;  // of requests that take a hundred times as long
  std::uint64_t seed = 1;
};

struct Served {
  double t_s = 0;  // of arrival
  std::size_t placer = 0, host = 0;
  Why why = Why::Preferred;
  double response_ms = 0;
};

// In order of arrival.
std::vector<Served> simulate(const Simulated&);

// A host whose response times have a constant mean, as its calibration says when `known_ms` is not given. The
// client path is `path_ms`, the rest database.
SimulatedHost constant_host(double mean_ms, double path_ms, double known_ms = 0);

}  // namespace sluice::placement
