#include "trace/call_batch.h"

#include <utility>

namespace sluice::trace {

void CallBatcher::add(const Call& call, const RouteName& route, const Origin& origin) {
  batch_.entries.push_back({call, origin, index_of(route)});
}

std::uint32_t CallBatcher::index_of(const RouteName& route) {
  // Most calls follow one of their own request.
  if (!batch_.entries.empty() && batch_.routes[batch_.entries.back().route] == route)
    return batch_.entries.back().route;
  const auto [place, added] = indices_.try_emplace(*route, static_cast<std::uint32_t>(batch_.routes.size()));
  if (added) batch_.routes.push_back(route);
  return place->second;
}

CallBatch CallBatcher::take() {
  indices_.clear();
  return std::exchange(batch_, CallBatch());
}

}  // namespace sluice::trace
