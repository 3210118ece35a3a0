#pragma once

#include <optional>

#include "sluice/placement/cost.h"

namespace sluice::placement {

// The arithmetic of a calibration. Source: "Placing Compute Along the Database Request Path"; times are
// medians of one calibration run.

// What a route costs on a host beyond path and database. May be negative: it is not clamped.
constexpr Millis residual(Millis route, Millis health, double n_serial, Millis sql) noexcept {
  return route - health - n_serial * sql;
}

// A host's score as a line over the number of serial calls.
struct Line {
  Millis base{};      // path, connect, dependencies and residual
  Millis per_call{};  // sql(c)
};

// The n* beyond which `far` scores less than `near`: (base_far - base_near) / (per_call_near -
// per_call_far). Negative when far wins from the first call on; nullopt when no number of calls makes far
// win more, because its calls cost as much or more.
constexpr std::optional<double> crossover(Line near, Line far) noexcept {
  if (!(far.per_call < near.per_call)) return std::nullopt;
  return (far.base - near.base) / (near.per_call - far.per_call);
}

}  // namespace sluice::placement
