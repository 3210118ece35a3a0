#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "calibration/calibration.h"

namespace sluice::calibrate {

using placement::Millis;

struct Target {
  std::string name;  // of the host in profile and calibration
  std::string address;
  std::uint16_t port = 80;
  std::string health_path = "/health";  // empty: the TCP connect is all there is of the way
};

struct RouteRequest {
  std::string name;  // of the route in profile and calibration
  std::string path;  // what is asked for
  std::optional<double> n_serial;
  calibration::NSerialSource n_serial_source = calibration::NSerialSource::Configured;
  std::map<std::string, Millis> sql{};  // by host, where the router's matrix says it
};

// What is measured, and how often. Source of the numbers: "Placing Compute Along the Database Request Path".
struct Plan {
  std::vector<Target> targets;
  std::vector<RouteRequest> routes;
  std::size_t warm_ups = 20;
  std::size_t samples = 500;
  std::chrono::milliseconds timeout{10'000};

  // Requests and connects in all, warm-ups included.
  std::size_t steps() const noexcept { return (warm_ups + samples) * targets.size() * (routes.size() + 2); }
};

}  // namespace sluice::calibrate
