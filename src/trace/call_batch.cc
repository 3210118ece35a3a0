#include "trace/call_batch.h"

#include <utility>

namespace sluice::trace {

void CallBatcher::add(const Call& call, const RouteName& route, const Origin& origin) {
  auto& entries = batch_.entries;
  if (entries.empty()) entries.reserve(size_);
  const std::uint32_t index = index_of(route);
  ++batch_.routes[index].calls;
  entries.push_back({call, origin, index});
  // Where the next will lie, another processor may have read a while ago: it comes back meanwhile.
  __builtin_prefetch(entries.data() + entries.size(), 1);
}

std::uint32_t CallBatcher::index_of(const RouteName& route) {
  std::uint32_t& hint = hints_[route.hash() % kHints];
  if (hint < names_.size() && names_[hint] == route) return hint;
  const auto [place, added] = indices_.try_emplace(*route, static_cast<std::uint32_t>(names_.size()));
  if (added) {
    names_.push_back(route);
    batch_.routes.push_back({*route, 0});
  }
  hint = place->second;
  return hint;
}

CallBatch CallBatcher::take() {
  indices_.clear();
  names_.clear();
  return std::exchange(batch_, CallBatch());
}

}  // namespace sluice::trace
