#include "sluice/placement/adaptive.h"

#include <algorithm>
#include <cmath>

#include "base/assert.h"

namespace sluice::placement {
namespace {

// The correction is bounded: a level counts as at least a sixteenth and at most 64 times the prior, which for
// this counts as 50 us at least.
constexpr double kSlowestByPrior = 64, kFastestByPrior = 1.0 / 16;
constexpr Millis kPriorMin{0.05};
// How far off an unconfirmed prior may be, as a share of it: the published model's own error.
constexpr double kPriorError = 0.08;
// A prior that is off by more than this factor is so for a reason of its host's own, not of all hosts alike.
constexpr double kCommonErrorMax = 4.0 / 3;
// Trying a host is charged what it costs more than the preferred one, in multiples of the preferred one's
// score, with these limits: with 2% of time for it, 5% of requests at most, 2% for a host that is worse by
// more than chance, and a third of a percent at least.
constexpr double kChargeMin = 0.4, kChargeMinWorse = 1, kChargeMax = 6;
constexpr double kOverflowGain =
    0.1;  // of the score: a smaller gain is no reason to leave the preferred host
constexpr double kFailureSlowdown = 8;    // a failed request counts as so many times slower than expected
constexpr double kWaitingShareMax = 0.9;  // of a response time that can have been waiting
// Tries of each other host at once, after a change. The budget pays for them later, up to this debt in
// multiples of the preferred one's score as it is by then.
constexpr std::size_t kTriesAhead = 5;
constexpr double kDebtMax = 2;
constexpr float kShareMin = 0.002F;

bool older(const ResponseLevel& a, const ResponseLevel& b) noexcept {
  if (a.empty() != b.empty()) return a.empty();
  return a.last_at() < b.last_at();
}

}  // namespace

std::string_view why_name(Why why) noexcept {
  switch (why) {
    case Why::Preferred:
      return "preferred";
    case Why::Shifting:
      return "shifting";
    case Why::Explored:
      return "explored";
    case Why::Overflow:
      return "overflow";
  }
  return "?";
}

Adaptive::Adaptive(std::size_t routes, std::size_t hosts, AdaptiveSettings settings)
    : hosts_(hosts),
      settings_(settings),
      routes_(routes),
      levels_(routes * hosts),
      shares_(routes * hosts, 0.0F),
      in_flight_(hosts, 0),
      service_(hosts) {
  SLUICE_ASSERT(hosts >= 1 && hosts <= kHostsMax);
  SLUICE_ASSERT(settings.free_in_flight >= 1);
}

std::optional<Placement> Adaptive::choose(std::size_t route, const RouteInputs& inputs,
                                          std::span<const HostInputs> hosts, Now now, Rng& rng) noexcept {
  SLUICE_ASSERT(route < routes_.size() && hosts.size() == hosts_);
  if (std::none_of(hosts.begin(), hosts.end(), [](const HostInputs& h) { return h.candidate; }))
    return std::nullopt;

  std::array<Estimate, kHostsMax> estimates;
  const std::span<Estimate> view(estimates.data(), hosts_);
  estimate(route, inputs, hosts, now, view);
  const std::size_t preferred = prefer(routes_[route], hosts, view);
  shift(route, preferred, now);
  const auto placed = [&](std::size_t host, Why why) {
    return Placement{host, why, view[host].level, view[host].waiting};
  };
  if (const auto tried = explore(route, preferred, hosts, view, now, rng))
    return placed(*tried, Why::Explored);
  const std::size_t drawn = draw(route, preferred, hosts, rng);
  const std::size_t relieved = overflow(drawn, hosts, view);
  if (relieved != drawn) return placed(relieved, Why::Overflow);
  return placed(drawn, drawn == preferred ? Why::Preferred : Why::Shifting);
}

// The prior and the measured level, weighted by the number of samples behind each. Before that, all priors
// are corrected by what those of the measured hosts are off by together: else a host that nobody has measured
// looks better than the others whenever requests take longer everywhere than they did at the calibration.
void Adaptive::estimate(std::size_t route, const RouteInputs& inputs, std::span<const HostInputs> hosts,
                        Now now, std::span<Estimate> estimates) const noexcept {
  double off = 0, believed = 0;
  for (std::size_t h = 0; h < hosts_; ++h) {
    Estimate& e = estimates[h];
    const ResponseLevel& measured = levels_[cell(route, h)];
    e.prior = terms(Policy::Adaptive, inputs, hosts[h]).total();
    e.waiting = waiting(h);
    e.weight = measured.weight(now, settings_.forget_after);
    e.believed = e.weight / (e.weight + settings_.prior_samples);
    const Millis yardstick = std::max(e.prior, kPriorMin);
    e.level = std::clamp(measured.level(), kFastestByPrior * yardstick, kSlowestByPrior * yardstick);
    if (!hosts[h].candidate) continue;
    off += e.believed * (std::clamp(e.level / yardstick, 1 / kCommonErrorMax, kCommonErrorMax) - 1);
    believed += e.believed;
  }
  const double common = off / std::max(believed, 1.0);
  for (std::size_t h = 0; h < hosts_; ++h) {
    Estimate& e = estimates[h];
    const Millis expected = e.prior + common * std::max(e.prior, kPriorMin);
    e.level = expected + e.believed * (e.level - expected);
    const double of_samples =
        e.weight > 0 ? e.believed * levels_[cell(route, h)].scatter().count() / std::sqrt(e.weight) : 0;
    const double of_prior = (1 - e.believed) * kPriorError * std::max(expected, kPriorMin).count();
    e.variance = of_samples * of_samples + of_prior * of_prior;
  }
}

// By how much one host's level may be less than another's by chance alone.
Millis Adaptive::chance(const Estimate& a, const Estimate& b) const noexcept {
  return Millis(settings_.confidence * std::sqrt(a.variance + b.variance));
}

// Below free_in_flight a request meets an idle server; beyond, each one before it delays it by its share of a
// service time.
Millis Adaptive::waiting(std::size_t host) const noexcept {
  const std::uint32_t busy = in_flight_[host];
  if (busy < settings_.free_in_flight) return Millis{};
  return (1.0 + busy - settings_.free_in_flight) / settings_.free_in_flight * service_[host].level();
}

std::size_t Adaptive::prefer(Route& route, std::span<const HostInputs> hosts,
                             std::span<const Estimate> estimates) noexcept {
  std::size_t best = hosts_;
  for (std::size_t h = 0; h < hosts_; ++h)
    if (hosts[h].candidate && (best == hosts_ || estimates[h].level < estimates[best].level)) best = h;
  if (route.preferred < 0 || !hosts[static_cast<std::size_t>(route.preferred)].candidate) {
    route.preferred = static_cast<std::int32_t>(best);
    return best;
  }
  const auto held = static_cast<std::size_t>(route.preferred);
  const Millis gain = estimates[held].level - estimates[best].level;
  if (!(gain >
        std::max(settings_.hysteresis * estimates[held].level, chance(estimates[held], estimates[best]))))
    return held;
  route.preferred = static_cast<std::int32_t>(best);
  return best;
}

// Moves the route's shares towards its preferred host by the time that has passed.
void Adaptive::shift(std::size_t route, std::size_t to, Now now) noexcept {
  Route& state = routes_[route];
  const std::span<float> shares(&shares_[cell(route, 0)], hosts_);
  const Millis elapsed = std::max(now - state.decided_at, Now{0});
  const bool first = !state.decided;
  const double moved = first ? 1 : 1 - std::exp(-elapsed / settings_.shift_over);
  state.decided = true;
  state.decided_at = std::max(now, state.decided_at);
  float others = 0;
  for (std::size_t h = 0; h < hosts_; ++h) {
    if (h == to) continue;
    shares[h] *= static_cast<float>(1 - moved);
    if (shares[h] < kShareMin) shares[h] = 0;
    others += shares[h];
  }
  shares[to] = 1 - others;
}

// Of the hosts that are due the one not measured for the longest time, when the budget pays for it. One that
// looks better than the preferred one, though not by more than chance, is always due, comes first, and costs
// nothing: half of the requests go there until it is certain or looks better no longer.
std::optional<std::size_t> Adaptive::explore(std::size_t route, std::size_t preferred,
                                             std::span<const HostInputs> hosts,
                                             std::span<const Estimate> estimates, Now now,
                                             Rng& rng) noexcept {
  Route& state = routes_[route];
  const Estimate& held = estimates[preferred];
  const Millis score = std::max(held.level, kPriorMin);
  state.budget =
      std::clamp(state.budget + settings_.exploration * score, -kDebtMax * score, kChargeMax * score);
  const auto better = [&](std::size_t h) { return estimates[h].level < held.level; };
  std::optional<std::size_t> due;
  for (std::size_t h = 0; h < hosts_; ++h) {
    if (h == preferred || !hosts[h].candidate || estimates[h].waiting > Millis{}) continue;
    const ResponseLevel& level = levels_[cell(route, h)];
    if (!better(h) && !level.empty() && now - level.last_at() < settings_.explore_after) continue;
    if (!due || (better(h) != better(*due) ? better(h) : older(level, levels_[cell(route, *due)]))) due = h;
  }
  if (!due) return std::nullopt;
  const Millis lost = estimates[*due].level - held.level;
  const bool free = better(*due) && settings_.exploration > 0;
  const double charge_min = lost > chance(held, estimates[*due]) ? kChargeMinWorse : kChargeMin;
  const Millis charge = free ? Millis{} : std::clamp(lost, charge_min * score, kChargeMax * score);
  if (!free && state.tries_ahead == 0 && state.budget < charge) return std::nullopt;
  // By chance, so that placers that started together do not try together.
  if (rng.below(2) == 0) return std::nullopt;
  if (!free && state.tries_ahead > 0) --state.tries_ahead;
  state.budget -= charge;
  return due;
}

std::size_t Adaptive::draw(std::size_t route, std::size_t preferred, std::span<const HostInputs> hosts,
                           Rng& rng) const noexcept {
  const std::span<const float> shares(&shares_[cell(route, 0)], hosts_);
  double all = 0;
  for (std::size_t h = 0; h < hosts_; ++h)
    if (hosts[h].candidate) all += static_cast<double>(shares[h]);
  double left = rng.unit() * all;
  for (std::size_t h = 0; h < hosts_; ++h) {
    if (!hosts[h].candidate || shares[h] <= 0) continue;
    left -= static_cast<double>(shares[h]);
    if (left < 0) return h;
  }
  return preferred;
}

// Where a request goes that would wait: elsewhere only if the wait that it is spared is more than what the
// other host costs more. That another host costs less is no reason here: shift() sees to that.
std::size_t Adaptive::overflow(std::size_t drawn, std::span<const HostInputs> hosts,
                               std::span<const Estimate> estimates) const noexcept {
  std::size_t best = drawn;
  Millis best_gain = kOverflowGain * estimates[drawn].level;
  for (std::size_t h = 0; h < hosts_; ++h) {
    if (h == drawn || !hosts[h].candidate) continue;
    const Millis gain = estimates[drawn].waiting - estimates[h].waiting -
                        std::max(estimates[h].level - estimates[drawn].level, Millis{});
    if (gain <= best_gain) continue;
    best = h;
    best_gain = gain;
  }
  return best;
}

void Adaptive::started(std::size_t host) noexcept {
  ++in_flight_[host];
}

void Adaptive::finished(std::size_t host) noexcept {
  SLUICE_ASSERT(in_flight_[host] > 0);
  --in_flight_[host];
}

void Adaptive::observe(std::size_t route, const Placement& placement, Millis response_time,
                       Now now) noexcept {
  learn(route, placement.host, response_time - std::min(placement.waiting, kWaitingShareMax * response_time),
        now);
}

void Adaptive::failed(std::size_t route, const Placement& placement, Millis response_time, Now now) noexcept {
  learn(route, placement.host, std::max(response_time, kFailureSlowdown * placement.expected), now);
}

void Adaptive::learn(std::size_t route, std::size_t host, Millis sample, Now now) noexcept {
  service_[host].add(sample, now, settings_.forget_after);
  if (levels_[cell(route, host)].add(sample, now, settings_.forget_after) == ResponseLevel::Change::None)
    return;
  // The world has changed: what is known of the other hosts may be as old as what was known of this one.
  routes_[route].tries_ahead = kTriesAhead * (hosts_ - 1);
}

void Adaptive::explain(std::size_t route, const RouteInputs& inputs, std::span<const HostInputs> hosts,
                       Now now, std::span<Terms> explained) const noexcept {
  SLUICE_ASSERT(route < routes_.size() && hosts.size() == hosts_ && explained.size() == hosts_);
  std::array<Estimate, kHostsMax> estimates;
  estimate(route, inputs, hosts, now, {estimates.data(), hosts_});
  for (std::size_t h = 0; h < hosts_; ++h) {
    explained[h] = terms(Policy::Adaptive, inputs, hosts[h]);
    explained[h].correction = estimates[h].level - estimates[h].prior;
    explained[h].waiting = estimates[h].waiting;
  }
}

std::optional<std::size_t> Adaptive::preferred(std::size_t route) const noexcept {
  if (routes_[route].preferred < 0) return std::nullopt;
  return static_cast<std::size_t>(routes_[route].preferred);
}

double Adaptive::share(std::size_t route, std::size_t host) const noexcept {
  return static_cast<double>(shares_[cell(route, host)]);
}

std::uint32_t Adaptive::in_flight(std::size_t host) const noexcept {
  return in_flight_[host];
}

void Adaptive::forget_host(std::size_t host) noexcept {
  for (std::size_t route = 0; route < routes_.size(); ++route)
    levels_[cell(route, host)] = {};
  service_[host] = {};
}

void Adaptive::forget_route(std::size_t route) noexcept {
  for (std::size_t host = 0; host < hosts_; ++host) {
    levels_[cell(route, host)] = {};
    shares_[cell(route, host)] = 0;
  }
  routes_[route] = {};
}

}  // namespace sluice::placement
