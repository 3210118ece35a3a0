#include "trace/call_batch.h"

#include <utility>

namespace sluice::trace {
namespace {

// What a name takes on the heap at least: addresses of two names differ by it.
constexpr std::uintptr_t kNameBytes = 48;

}  // namespace

void CallBatcher::add(const Call& call, const RouteName& route, const Origin& origin) {
  if (batch_.entries.empty()) batch_.entries.reserve(size_);
  const std::uint32_t index = index_of(route);
  ++batch_.routes[index].calls;
  batch_.entries.push_back({call, origin, index});
}

std::uint32_t CallBatcher::index_of(const RouteName& route) {
  std::uint32_t& hint = hints_[reinterpret_cast<std::uintptr_t>(route.get()) / kNameBytes % kHints];
  if (hint < batch_.routes.size() && batch_.routes[hint].name == route) return hint;
  const auto [place, added] = indices_.try_emplace(*route, static_cast<std::uint32_t>(batch_.routes.size()));
  if (added) batch_.routes.push_back({route, 0});
  hint = place->second;
  return hint;
}

CallBatch CallBatcher::take() {
  indices_.clear();
  return std::exchange(batch_, CallBatch());
}

}  // namespace sluice::trace
