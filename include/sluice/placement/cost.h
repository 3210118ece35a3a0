#pragma once

#include <chrono>
#include <optional>
#include <span>

namespace sluice::placement {

// What a request costs on a compute host, term by term.
// Source: "Placing Compute Along the Database Request Path": cost(c) = path(c) + N_serial x sql(c) +
// residual(c, route); symbols as there, c a compute host.

// Fractions of a millisecond count here, and so does exactness at ties: a double, not nanoseconds.
using Millis = std::chrono::duration<double, std::milli>;

// Whether each request to a compute host opens a connection of its own, whose TCP connect it then waits for.
enum class UpstreamConnection { Reused, PerRequest };

// What is known of a route, whatever the host.
struct RouteInputs {
  // Calls on the longest chain of dependent queries; parallel calls count once. Unknown: nullopt.
  std::optional<double> n_serial{};
  UpstreamConnection upstream = UpstreamConnection::Reused;
};

// What is known of one host for one route. A nullopt is a term that nobody has measured, or whose
// measurement is too old or too thin: which, is the caller's judgement.
struct HostInputs {
  bool candidate = true;             // up and not draining: only candidates are chosen
  std::optional<Millis> client{};    // round trip to the host, as a TCP connect takes it
  std::optional<Millis> path{};      // median of a request for the health page over a kept connection
  std::optional<Millis> connect{};   // median of a TCP connect
  std::optional<Millis> sql{};       // median of one SELECT 1 from the host on the route's target
  std::optional<Millis> residual{};  // residual(c, route) of the calibration; may be negative
  Millis dependencies{};             // sum over further dependencies of n_serial x round trip
};

// The terms of one host's score: what `explain` shows. The score is their sum.
struct Terms {
  Millis path{};
  Millis connect{};   // 0 while connections are reused
  Millis database{};  // N_serial x sql(c)
  Millis dependencies{};
  Millis residual{};
  Millis correction{};  // adaptive: what measured response times add to or take from the terms above
  Millis waiting{};     // adaptive: requests that this host has in flight from us

  Millis total() const noexcept {
    return path + connect + database + dependencies + residual + correction + waiting;
  }
  friend bool operator==(const Terms&, const Terms&) = default;
};

// A route's target when it is spread over replicas: the mean of RTT(c, r), weighted by the shares of the
// route's class. Shape: both spans of one length; shares >= 0, of any sum. Replicas whose RTT is unknown are
// left out; all shares 0 count as equal; nullopt when no replica with a share has a known RTT.
std::optional<Millis> share_weighted(std::span<const std::optional<Millis>> rtt,
                                     std::span<const double> shares) noexcept;

}  // namespace sluice::placement
