#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/placement/cost.h"

// What a calibration found out: the values of a calibration file.
namespace sluice::calibration {

using placement::Millis;
using WallTime = std::chrono::sys_seconds;

// A median of response times with its 95% confidence interval.
struct Measurement {
  Millis median{}, low{}, high{};
  std::uint32_t samples = 0;
  WallTime measured_at{};

  friend bool operator==(const Measurement&, const Measurement&) = default;
};

struct Host {
  std::string name;
  std::optional<Measurement> health;   // a request for the health page over a kept connection: path(c)
  std::optional<Measurement> connect;  // a TCP connect
  std::optional<Measurement>
      select_1;  // one SELECT 1 from the host through the router: sql(c) of routes without their own

  friend bool operator==(const Host&, const Host&) = default;
};

// Where a route's N_serial comes from.
enum class NSerialSource : std::uint8_t {
  Configured,  // the placer's configuration
  Observed,    // the router's profile: longest chains of calls in commented traces
  Counted,     // difference of the router's query counter over requests sent alone
};
std::string_view source_word(NSerialSource) noexcept;  // "configured", "observed", "counted"

struct RouteOnHost {
  std::string host;
  Measurement response;
  // sql(c) on the route's own target, where the calibration took it from the router's matrix of round trips.
  std::optional<Millis> sql;
  // residual(c, route): complete() works it out where every part is known.
  std::optional<Millis> residual;

  friend bool operator==(const RouteOnHost&, const RouteOnHost&) = default;
};

struct Route {
  std::string name;
  std::optional<double> n_serial;
  NSerialSource n_serial_source = NSerialSource::Configured;
  std::vector<RouteOnHost> hosts;

  friend bool operator==(const Route&, const Route&) = default;
};

struct Calibration {
  std::vector<Host> hosts;
  std::vector<Route> routes;

  const Host* find_host(std::string_view name) const noexcept;
  const Route* find_route(std::string_view name) const noexcept;
  friend bool operator==(const Calibration&, const Calibration&) = default;
};

// What sql(c) is taken from, for calibrating and for scoring: a residual goes only with the sql(c) that it
// was made with, since N_serial x sql(c) is taken off in the one and added in the other.
enum class SqlSource : std::uint8_t {
  Matrix,     // the router's round trips: RouteOnHost::sql
  SelectOne,  // measured on the host: Host::select_1
};

// The residual of a route on a host for any N_serial, say one that the router has observed since: what was
// measured stays, and N_serial x sql is taken off anew. Where the calibration lacks the source asked for, the
// other stands in. nullopt while a part of it was not measured.
std::optional<Millis> residual_for(const Calibration&, const Route&, std::string_view host, double n_serial,
                                   SqlSource);

// Works out every residual that can be, and removes those that cannot.
void complete(Calibration&);

// Adds what `more` measured; where both have it, `more` wins. Hosts and routes new to `into` come behind its
// own. Residuals are worked out anew.
void merge(Calibration& into, const Calibration& more);

}  // namespace sluice::calibration
