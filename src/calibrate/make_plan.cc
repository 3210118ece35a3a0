#include <algorithm>

#include "base/nearest.h"
#include "calibrate/failure.h"
#include "calibrate/run.h"
#include "calibration/round_trip.h"

namespace sluice::calibrate {
namespace {

// What the router has seen of the route, where that is enough to believe it.
std::optional<double> observed_n_serial(const profile::Contents& contents, const std::string& name,
                                        const config::PlacerOptions& options) {
  const auto index = profile::find_route(contents, name);
  if (!index) return std::nullopt;
  const profile::Route& route = contents.routes[*index];
  constexpr std::int64_t kScale = 1'000'000;
  const double untraced_max = static_cast<double>(options.max_untraced_share.floor_of(kScale)) / kScale;
  if (route.requests < options.min_route_requests || route.untraced_share > untraced_max) return std::nullopt;
  return route.n_serial_median;
}

bool has_parameters(const std::string& pattern) {
  return pattern.find("/:") != pattern.npos || pattern.find('*') != pattern.npos;
}

RouteRequest request_of(const config::PlacerRoute& route, const Options& options) {
  RouteRequest request;
  request.name = route.profile_route;
  const auto given = options.paths.find(route.pattern);
  if (given != options.paths.end())
    request.path = given->second;
  else if (has_parameters(route.pattern))
    throw Failure("which page is asked for of " + route.pattern + "? Say --request '" + route.pattern +
                  "=/a/path'");
  else
    request.path = route.pattern;
  if (!request.path.starts_with('/')) throw Failure("the page " + request.path + " does not begin with /");
  return request;
}

void check_names(const config::PlacerConfig& config, const Options& options) {
  const auto check = [](const std::string& given, const std::vector<std::string_view>& known,
                        const char* what) {
    if (std::find(known.begin(), known.end(), given) != known.end()) return;
    const std::string near = suggestion(given, known);
    throw Failure("the configuration has no " + std::string(what) + " " + given +
                  (near.empty() ? "" : "; " + near));
  };
  std::vector<std::string_view> hosts, patterns;
  for (const config::ComputeHost& host : config.compute_hosts)
    hosts.push_back(host.name);
  for (const config::PlacerRoute& route : config.routes)
    patterns.push_back(route.pattern);
  for (const std::string& host : options.hosts)
    check(host, hosts, "compute host");
  for (const auto& [pattern, path] : options.paths)
    check(pattern, patterns, "route");
}

}  // namespace

Plan make_plan(const config::PlacerConfig& config, const Options& options, const profile::Profile* profile,
               profile::Moment now) {
  check_names(config, options);
  Plan plan;
  plan.warm_ups = options.warm_ups;
  plan.samples = options.samples;
  for (const config::ComputeHost& host : config.compute_hosts) {
    const bool wanted = options.hosts.empty() || std::find(options.hosts.begin(), options.hosts.end(),
                                                           host.name) != options.hosts.end();
    if (wanted)
      plan.targets.push_back(
          {host.name, host.address, static_cast<std::uint16_t>(host.port), host.health_path});
  }
  for (const config::PlacerRoute& route : config.routes) {
    if (!route.method.empty() && route.method != "GET") continue;  // what changes something is not tried out
    const bool repeated = std::any_of(plan.routes.begin(), plan.routes.end(), [&](const RouteRequest& other) {
      return other.name == route.profile_route;
    });
    if (repeated) continue;
    RouteRequest request = request_of(route, options);
    std::string priority_class = route.priority_class;
    if (route.n_serial.source == config::SerialCalls::Source::Fixed) request.n_serial = route.n_serial.number;
    if (profile != nullptr) {
      if (route.n_serial.source == config::SerialCalls::Source::Profile) {
        request.n_serial = observed_n_serial(profile->contents, request.name, config.options);
        request.n_serial_source = calibration::NSerialSource::Observed;
      }
      const auto known = profile::find_route(profile->contents, request.name);
      if (priority_class.empty() && known) priority_class = profile->contents.routes[*known].priority_class;
      for (const Target& target : plan.targets)
        if (const auto sql = calibration::sql_by_profile(profile->contents, target.name, route.target,
                                                         priority_class, now, config.options.rtt_max_age))
          request.sql[target.name] = *sql;
    }
    plan.routes.push_back(std::move(request));
  }
  return plan;
}

}  // namespace sluice::calibrate
