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

RouteNames::Named RouteNames::read(std::string_view front, std::string_view back) {
  constexpr std::size_t kEnd = kTraceparentBytes + 1;  // with its quote
  const std::string_view inside = begins_with_comment(front) ? std::string_view() : comment_behind(back);
  Beginning* beginning = nullptr;
  std::string_view text, traceparent;
  if (inside.size() > kEnd && inside.size() <= kBeginningMax + kEnd && inside.back() == '\'') {
    text = inside.substr(0, inside.size() - kEnd);
    traceparent = inside.substr(text.size(), kTraceparentBytes);
    beginning = &beginnings_[place_of(text, {})];
    // A valid traceparent holds nothing that could mean anything else: no quote, no backslash.
    if (beginning->text == text)
      if (const auto trace = parse_traceparent(traceparent)) return {beginning->route, *trace};
  }
  const WrittenTags tags = find_tags(front, back);
  Named named{of(tags), read_trace(tags.traceparent)};
  if (beginning != nullptr && tags.traceparent.data() == traceparent.data() &&
      tags.traceparent.size() == traceparent.size()) {
    beginning->text = text;
    beginning->route = named.route;
  }
  return named;
}

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
