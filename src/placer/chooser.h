#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "sluice/placement/adaptive.h"
#include "sluice/rng.h"

#include "placer/snapshot.h"

namespace sluice::placer {

// A request's place: the host, and what its answer is to be reported with.
struct Place {
  std::size_t host = 0;
  placement::Policy policy = placement::Policy::UserFirst;  // that was followed
  std::optional<placement::Placement> learnt;               // by adaptive
};

// The host for a request of the route (index into View::routes) among those that are up, below their
// max_connections, and not in `tried` (a bit per host). nullopt: there is none. O(hosts), no allocation; a
// lock under adaptive. Any thread. A place under adaptive counts as in flight until finish().
std::optional<Place> choose_place(const View& view, std::size_t route, std::uint64_t tried,
                                  std::chrono::steady_clock::time_point now, Rng& rng);

enum class Verdict : std::uint8_t {
  Answered,  // the whole response came
  Failed,    // by the host's fault: 5xx, reset, timeout
  GivenUp,   // by the client's
};
// `took`: from when the placer turned to the host until the response's last byte.
void finish_place(const View& view, std::size_t route, const Place& place, Verdict verdict,
                  std::chrono::nanoseconds took, std::chrono::steady_clock::time_point now);

}  // namespace sluice::placer
