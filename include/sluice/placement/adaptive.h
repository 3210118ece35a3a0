#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sluice/placement/cost.h"
#include "sluice/placement/policy.h"
#include "sluice/placement/response_level.h"
#include "sluice/rng.h"

namespace sluice::placement {

// Times are of any monotonic clock of the caller's, the same in all calls.
using Now = std::chrono::nanoseconds;

struct AdaptiveSettings {
  double prior_samples = 3;     // how many measured requests the calibrated score weighs as
  double hysteresis = 0.01;     // share of the score by which another host must win to become preferred
  double confidence = 2.0;      // ... and in standard errors of the difference
  double exploration = 0.02;    // share of response time that may be spent on trying other hosts
  Millis explore_after{250.0};  // a host measured more recently than this is tried only if it looks better
  Millis forget_after{5000.0};  // time in which a measurement loses all but 1/e of its weight
  Millis shift_over{1000.0};    // time in which all but 1/e of a route's requests follow a new preference
  std::uint32_t free_in_flight = 8;  // requests that a host serves side by side before they wait
};

// Why a request went where it went.
enum class Why : std::uint8_t {
  Preferred,  // the host that the route prefers
  Shifting,   // a host that the route is just leaving, or not yet gone to altogether
  Explored,   // tried, to learn what it costs now
  Overflow,   // the preferred host has too much of ours in flight
};
std::string_view why_name(Why) noexcept;  // "preferred", "shifting", "explored", "overflow"

// One decision; give it back with what came of it.
struct Placement {
  std::size_t host = 0;
  Why why = Why::Preferred;
  Millis expected{};  // what it should take on an idle host
  Millis waiting{};   // ... and how long it should wait, at the decision, for those in flight before it
};

// Placement that starts from the published model and learns from measured response times.
//
// For each route and host it keeps a response level (response_level.h): robust against wild samples, with
// forgetting, and quick after a lasting change. What the priors of a route are off by on all its hosts alike
// is taken off them; then the score of a host is the prior's and the level's weighted mean, by number of
// samples. Its difference to the prior is the `correction` term. A route prefers one host, the prior's at
// first, and another only when it wins by more than chance: at a tie it stays. Requests follow a new
// preference gradually, so that many placers that learn the same at once do not all rush to one host;
// requests in flight count as waiting time at once. A small share of time is spent on hosts not measured
// lately: most of it on one that may be better, little on one that is worse beyond doubt.
//
// Shape:  routes x hosts fixed by the constructor; hosts >= 1, in configuration order. choose() is O(hosts),
//         at most kHostsMax; nothing allocates after the constructor. One thread, or one lock.
// Deterministic given the calls with their times and the rng.
class Adaptive {
 public:
  static constexpr std::size_t kHostsMax = 64;

  Adaptive(std::size_t routes, std::size_t hosts, AdaptiveSettings);

  // Chooses among the candidates; nullopt without one. `prior`: effective_policy(Adaptive, ...) gave
  // Adaptive; its `missing` says whether residuals are known. Does not count the request as in flight: call
  // started().
  std::optional<Placement> choose(std::size_t route, const RouteInputs&, std::span<const HostInputs> hosts,
                                  Now now, Rng& rng) noexcept;

  // A request was sent to the host; it was answered or given up. In pairs.
  void started(std::size_t host) noexcept;
  void finished(std::size_t host) noexcept;

  // A request was answered: what it took as the placer saw it, from the moment that it turned to the host
  // until the response's last byte, as the calibration measures it.
  void observe(std::size_t route, const Placement&, Millis response_time, Now now) noexcept;
  // A request failed by the host's fault (5xx, reset, timeout). Failing fast must not look fast: it counts as
  // a slow response.
  void failed(std::size_t route, const Placement&, Millis response_time, Now now) noexcept;

  // All terms of each host's score now, without changing anything: for `explain`. Candidates as for choose():
  // a host that is none is explained too, but says nothing of the others. explained.size() == hosts.size().
  void explain(std::size_t route, const RouteInputs&, std::span<const HostInputs> hosts, Now now,
               std::span<Terms> explained) const noexcept;
  // What the route prefers, and the share of its requests that goes to a host: for `explain` and metrics.
  std::optional<std::size_t> preferred(std::size_t route) const noexcept;
  double share(std::size_t route, std::size_t host) const noexcept;
  std::uint32_t in_flight(std::size_t host) const noexcept;

  // A host's or a route's history no longer means anything (its address or its pattern changed).
  void forget_host(std::size_t host) noexcept;
  void forget_route(std::size_t route) noexcept;

 private:
  struct Route {
    std::int32_t preferred = -1;
    Millis budget{};              // response time that may be spent on exploring; below zero: a debt
    std::size_t tries_ahead = 0;  // that need not wait for the budget
    Now decided_at{};
    bool decided = false;
  };
  struct Estimate {
    Millis prior{};
    Millis level{};  // prior corrected, without waiting
    Millis waiting{};
    double weight = 0;    // samples behind it that still count
    double believed = 0;  // how much of level is measured, in [0, 1)
    double variance = 0;  // of level, ms^2
  };

  std::size_t cell(std::size_t route, std::size_t host) const noexcept { return route * hosts_ + host; }
  void estimate(std::size_t route, const RouteInputs&, std::span<const HostInputs> hosts, Now now,
                std::span<Estimate> estimates) const noexcept;
  Millis chance(const Estimate&, const Estimate&) const noexcept;
  Millis waiting(std::size_t host) const noexcept;
  std::size_t prefer(Route&, std::span<const HostInputs>, std::span<const Estimate>) noexcept;
  void shift(std::size_t route, std::size_t to, Now now) noexcept;
  std::optional<std::size_t> explore(std::size_t route, std::size_t preferred, std::span<const HostInputs>,
                                     std::span<const Estimate>, Now now, Rng&) noexcept;
  std::size_t draw(std::size_t route, std::size_t preferred, std::span<const HostInputs>,
                   Rng&) const noexcept;
  std::size_t overflow(std::size_t drawn, std::span<const HostInputs>,
                       std::span<const Estimate>) const noexcept;
  void learn(std::size_t route, std::size_t host, Millis sample, Now now) noexcept;

  std::size_t hosts_;
  AdaptiveSettings settings_;
  std::vector<Route> routes_;
  std::vector<ResponseLevel> levels_;  // by cell()
  std::vector<float> shares_;          // by cell()
  std::vector<std::uint32_t> in_flight_;
  std::vector<ResponseLevel> service_;  // per host, over all its routes: what a request in flight costs
};

}  // namespace sluice::placement
