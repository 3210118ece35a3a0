#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"
#include "router/admission.h"
#include "telemetry/labels.h"
#include "telemetry/reading.h"

namespace sluice::router {

// The names behind the metrics' labels. Numbers are never given to another name, so that a reload moves no
// count: classes and replicas have the policy's ids, databases are numbered here in the order of their first
// appearance. On the control thread.
class TelemetryNames {
 public:
  // Stands for all clients that come from no configured host.
  static constexpr std::string_view kOtherHost = "other";
  // The primary where it is not named; no server can be called so.
  static constexpr std::string_view kFoundPrimary = "(primary)";

  // Takes in a configuration that `admission` knows already.
  telemetry::Names update(const config::Config& config, const Admission& admission);
  // Of a database entry of a configuration that update() has seen.
  telemetry::DatabaseLabel database(std::string_view name) const;
  telemetry::HostLabel host(std::string_view name) const;

 private:
  telemetry::Names names_;
};

}  // namespace sluice::router
