#include "trace/route_names.h"

#include <functional>
#include <memory>

namespace sluice::trace {
namespace {

RouteName name_of(std::string_view written, std::string_view action) {
  std::string route = read_route(written, action);
  return route.empty() ? RouteName() : std::make_shared<const std::string>(std::move(route));
}

std::size_t place_of(std::string_view written, std::string_view action) noexcept {
  const std::hash<std::string_view> hash;
  const std::size_t value = action.empty() ? hash(written) : hash(written) * 31 + hash(action);
  return value % RouteNames::kPlaces;
}

}  // namespace

RouteName RouteNames::of(const WrittenTags& tags) {
  RouteName name = of(tags.route, {});
  return name || tags.controller.empty() ? name : of(tags.controller, tags.action);
}

RouteName RouteNames::of(std::string_view written, std::string_view action) {
  if (written.empty()) return nullptr;
  if (written.size() + action.size() > kWrittenMax) return name_of(written, action);
  Place& place = places_[place_of(written, action)];
  if (place.written != written || place.action != action) {
    place.name = name_of(written, action);
    place.written = written;
    place.action = action;
  }
  return place.name;
}

}  // namespace sluice::trace
