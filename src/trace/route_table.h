#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "trace/call_batch.h"
#include "trace/recent.h"
#include "trace/trace_table.h"

namespace sluice::trace {

// Above this share of calls that belong to no known request, a route's N_serial is too thin to use.
inline constexpr double kUntracedShareMax = 0.10;
// Priority classes that are told apart.
inline constexpr std::size_t kClassesMax = 32;

// What is known of one route.
struct RouteRecord {
  std::string name;
  RouteNumber number;
  std::uint64_t calls = 0;
  std::uint64_t errors = 0;  // calls with one
  RecentCounts n_serial;     // one sample per request
  RecentShares<2> untraced;  // kind 1: untraced
  RecentShares<kClassesMax> classes;
  TimePoint last_seen{};
  double use = 0;  // calls since the last review, and half of those before, ...

  std::uint64_t requests() const noexcept { return n_serial.count(); }
  double untraced_share() const noexcept { return untraced.share(1); }
  bool usable() const noexcept { return requests() > 0 && untraced_share() <= kUntracedShareMax; }
};

// The routes in use, at most routes_max of them, each in a slot. Routes come from clients, who may send any
// number: once all slots are taken, further ones are `other`, and at each review() those of them that were
// called more than twice as often as the least used ones take their slots.
// Shape:  slots are never taken away, only given to another route. O(1) per call; review() is O(n log n).
//         A route's number says in its low half which slot it has or had.
// Thread: one.
class RouteTable {
 public:
  explicit RouteTable(std::size_t routes_max) : routes_max_(routes_max) {}

  // The route's slot, a free one if it has none yet; nullopt for `other`, whose `calls` then count as use.
  std::optional<std::uint32_t> slot_for(std::string_view route, std::uint64_t calls);
  // Counts a call of the route in that slot.
  void count(std::uint32_t slot, const Call& call, const Origin& origin, TimePoint now);
  // Counts a request; false when the route has lost its slot.
  bool close(RouteNumber route, std::uint32_t n_serial);

  // To be called about once a minute. The slots that have another route now.
  std::vector<std::uint32_t> review();

  // By slot.
  const std::vector<RouteRecord>& routes() const noexcept { return routes_; }
  // nullopt when the route has lost its slot.
  std::optional<std::uint32_t> slot_of(RouteNumber route) const noexcept;
  // Newcomers that wait for a review.
  std::size_t waiting() const noexcept { return waiting_.size(); }

 private:
  void put(std::uint32_t slot, std::string_view name);

  const std::size_t routes_max_;
  std::uint64_t numbers_ = 0;  // given out so far
  std::vector<RouteRecord> routes_;
  std::unordered_map<std::string, std::uint32_t> by_name_;
  std::unordered_map<std::string, std::uint64_t> waiting_;  // calls since the last review, by name
};

}  // namespace sluice::trace
