#include "trace/route_table.h"

#include <algorithm>
#include <utility>

namespace sluice::trace {
namespace {

constexpr double kTimesAsOften = 2;

}  // namespace

void RouteTable::count(std::uint32_t slot, const Call& call, const Origin& origin, TimePoint now) {
  RouteRecord& record = routes_[slot];
  ++record.calls;
  if (call.failed) ++record.errors;
  record.untraced.add(call.trace ? 0 : 1);
  record.classes.add(origin.priority);
  record.last_seen = now;
  record.use += 1;
}

bool RouteTable::close(RouteNumber route, std::uint32_t n_serial) {
  const std::optional<std::uint32_t> slot = slot_of(route);
  if (!slot) return false;
  routes_[*slot].n_serial.add(n_serial);
  return true;
}

std::optional<std::uint32_t> RouteTable::slot_of(RouteNumber route) const noexcept {
  const auto slot = static_cast<std::uint32_t>(route.value());
  const bool there = slot < routes_.size() && routes_[slot].number == route;
  return there ? std::optional(slot) : std::nullopt;
}

std::optional<std::uint32_t> RouteTable::slot_for(std::string_view route, std::uint64_t calls) {
  std::string name(route);
  if (const auto found = by_name_.find(name); found != by_name_.end()) return found->second;
  if (routes_.size() < routes_max_) {
    const auto slot = static_cast<std::uint32_t>(routes_.size());
    routes_.emplace_back();
    put(slot, name);
    return slot;
  }
  if (const auto found = waiting_.find(name); found != waiting_.end()) {
    found->second += calls;
  } else if (waiting_.size() < routes_max_) {
    waiting_.emplace(std::move(name), calls);
  }
  return std::nullopt;
}

void RouteTable::put(std::uint32_t slot, std::string_view name) {
  RouteRecord record;
  record.name = name;
  record.number = RouteNumber(numbers_++ << 32 | slot);
  by_name_.insert_or_assign(record.name, slot);
  routes_[slot] = std::move(record);
}

std::vector<std::uint32_t> RouteTable::review() {
  std::vector<std::pair<std::uint64_t, std::string>> newcomers;
  for (auto& [name, calls] : waiting_)
    newcomers.emplace_back(calls, name);
  waiting_.clear();
  std::sort(newcomers.begin(), newcomers.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  std::vector<std::uint32_t> by_use(routes_.size());
  for (std::uint32_t slot = 0; slot < by_use.size(); ++slot)
    by_use[slot] = slot;
  std::sort(by_use.begin(), by_use.end(), [&](std::uint32_t a, std::uint32_t b) {
    return routes_[a].use != routes_[b].use ? routes_[a].use < routes_[b].use : a < b;
  });

  std::vector<std::uint32_t> changed;
  for (std::size_t i = 0; i < std::min(newcomers.size(), by_use.size()); ++i) {
    const std::uint32_t slot = by_use[i];
    const auto calls = static_cast<double>(newcomers[i].first);
    if (calls <= kTimesAsOften * routes_[slot].use) break;
    by_name_.erase(routes_[slot].name);
    put(slot, newcomers[i].second);
    routes_[slot].use = calls;
    changed.push_back(slot);
  }
  for (RouteRecord& record : routes_)
    record.use /= 2;
  return changed;
}

}  // namespace sluice::trace
