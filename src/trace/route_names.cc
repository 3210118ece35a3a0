#include "trace/route_names.h"

#include <functional>
#include <utility>

namespace sluice::trace {
namespace {

constexpr std::string_view kBegin = "/*";
constexpr std::string_view kEnd = "'*/";
constexpr std::size_t kEndBytes = kTraceparentBytes + kEnd.size();

RouteName name_of(std::string_view written, std::string_view action) {
  std::string route = read_route(written, action);
  return route.empty() ? RouteName() : RouteName(std::move(route));
}

std::size_t place_of(std::string_view written, std::string_view action) noexcept {
  const std::hash<std::string_view> hash;
  const std::size_t value = action.empty() ? hash(written) : hash(written) * 31 + hash(action);
  return value % RouteNames::kPlaces;
}

}  // namespace

std::optional<RouteNames::Named> RouteNames::read_alike(const Beginning& seen,
                                                        std::string_view back) noexcept {
  const std::string_view sql = detail::without_back_padding(back);
  const std::string_view text = seen.text;
  if (text.empty() || sql.size() < text.size() + kEndBytes || !sql.ends_with(kEnd)) return std::nullopt;
  const std::string_view comment = sql.substr(sql.size() - kEndBytes - text.size());
  if (!comment.starts_with(text)) return std::nullopt;
  // A valid traceparent holds nothing that could mean anything else: no quote, no backslash, no star.
  const std::optional<TraceId> trace = parse_traceparent(comment.substr(text.size(), kTraceparentBytes));
  return trace ? std::optional(Named{seen.route, *trace}) : std::nullopt;
}

RouteNames::Named RouteNames::read(std::string_view front, std::string_view back, Hint& hint) {
  std::string_view text, traceparent;
  if (!begins_with_comment(front)) {
    if (const auto named = read_alike(beginnings_[hint], back)) return *named;
    const std::string_view inside = comment_behind(back);
    constexpr std::size_t kQuoted = kTraceparentBytes + 1;
    if (inside.size() > kQuoted && inside.size() <= kBeginningMax + kQuoted && inside.back() == '\'') {
      text = {inside.data() - kBegin.size(), kBegin.size() + inside.size() - kQuoted};
      traceparent = inside.substr(inside.size() - kQuoted, kTraceparentBytes);
      hint = static_cast<Hint>(place_of(text, {}));
      if (const auto named = read_alike(beginnings_[hint], back)) return *named;
    }
  }
  const WrittenTags tags = find_tags(front, back);
  Named named{of(tags), read_trace(tags.traceparent)};
  if (!text.empty() && tags.traceparent.data() == traceparent.data() &&
      tags.traceparent.size() == traceparent.size()) {
    beginnings_[hint].text = text;
    beginnings_[hint].route = named.route;
  }
  return named;
}

RouteName RouteNames::of(const WrittenTags& tags) {
  RouteName name = of(tags.route, {});
  return name || tags.controller.empty() ? name : of(tags.controller, tags.action);
}

RouteName RouteNames::of(std::string_view written, std::string_view action) {
  if (written.empty()) return {};
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
