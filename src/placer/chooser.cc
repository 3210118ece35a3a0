#include "placer/chooser.h"

#include <algorithm>
#include <array>
#include <mutex>

namespace sluice::placer {
namespace {

placement::Now since_epoch(std::chrono::steady_clock::time_point now) {
  return std::chrono::duration_cast<placement::Now>(now.time_since_epoch());
}

}  // namespace

std::optional<Place> choose_place(const View& view, std::size_t route, std::uint64_t tried,
                                  std::chrono::steady_clock::time_point now, Rng& rng) {
  const Snapshot& snapshot = *view.snapshot;
  const RouteView& known = view.routes[route];
  std::array<placement::HostInputs, config::kComputeHostsMax> inputs;
  const std::size_t count = known.hosts.size();
  for (std::size_t i = 0; i < count; ++i) {
    inputs[i] = known.hosts[i];
    const HostState& host = *snapshot.hosts[i];
    const std::uint32_t limit = snapshot.config->compute_hosts[i].max_connections;
    inputs[i].candidate = host.up.load(std::memory_order_relaxed) && (tried >> i & 1) == 0 &&
                          (limit == 0 || host.in_flight.load(std::memory_order_relaxed) < limit);
  }
  const std::span<const placement::HostInputs> hosts(inputs.data(), count);
  Place place;
  place.policy = known.effective.policy;
  if (place.policy == placement::Policy::Adaptive && snapshot.learner != nullptr) {
    const std::lock_guard lock(snapshot.learner->mutex);
    place.learnt = snapshot.learner->adaptive.choose(route, known.inputs, hosts, since_epoch(now), rng);
    if (!place.learnt) return std::nullopt;
    place.host = place.learnt->host;
    snapshot.learner->adaptive.started(place.host);
    return place;
  }
  const std::optional<std::size_t> host = placement::choose(place.policy, known.inputs, hosts);
  if (!host) return std::nullopt;
  place.host = *host;
  return place;
}

void finish_place(const View& view, std::size_t route, const Place& place, Verdict verdict,
                  std::chrono::nanoseconds took, std::chrono::steady_clock::time_point now) {
  if (!place.learnt || view.snapshot->learner == nullptr) return;
  const std::lock_guard lock(view.snapshot->learner->mutex);
  placement::Adaptive& adaptive = view.snapshot->learner->adaptive;
  adaptive.finished(place.host);
  const placement::Millis millis(took);
  if (verdict == Verdict::Answered) adaptive.observe(route, *place.learnt, millis, since_epoch(now));
  if (verdict == Verdict::Failed) adaptive.failed(route, *place.learnt, millis, since_epoch(now));
}

}  // namespace sluice::placer
