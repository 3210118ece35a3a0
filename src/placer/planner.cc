#include "placer/planner.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "calibration/round_trip.h"

namespace sluice::placer {
namespace {

using Clock = std::chrono::steady_clock;
using placement::Millis;

double seconds_of(Clock::duration duration) {
  return std::chrono::duration<double>(duration).count();
}

double fraction(Ratio ratio) {
  return static_cast<double>(ratio.floor_of(Ratio::kUnit)) / static_cast<double>(Ratio::kUnit);
}

// One look at everything, for all routes.
class Planner {
 public:
  Planner(const Snapshot& snapshot, const Knowledge& knowledge, Clock::time_point now)
      : snapshot_(snapshot), options_(snapshot.options()), knowledge_(knowledge), now_(now) {
    if (knowledge.profile && distrust(*knowledge.profile, options_, now).empty())
      contents_ = &knowledge.profile->contents;
    for (const HostPtr& host : snapshot.hosts) {
      hosts_.push_back(way_to(hosts_.size(), host->name));
      profile_hosts_.push_back(contents_ != nullptr ? profile::find_host(*contents_, host->name)
                                                    : std::nullopt);
    }
  }

  RouteView view_of(const config::PlacerRoute& route) const {
    RouteView view;
    view.inputs.upstream = upstream();
    const auto index =
        contents_ != nullptr ? profile::find_route(*contents_, route.profile_route) : std::nullopt;
    view.inputs.n_serial = n_serial(route, index);
    view.hosts = hosts_;
    for (std::size_t i = 0; i < view.hosts.size(); ++i) {
      placement::HostInputs& host = view.hosts[i];
      const std::optional<Millis> matrix = profiled_sql(route, index, i);
      host.sql = matrix ? matrix : calibrated_sql(i);
      host.residual = residual(route, index, i, view.inputs.n_serial,
                               matrix ? calibration::SqlSource::Matrix : calibration::SqlSource::SelectOne);
      host.dependencies = dependencies(route, snapshot_.hosts[i]->name);
    }
    view.effective = placement::effective_policy(options_.policy, view.inputs, view.hosts);
    if (view.effective.policy != options_.policy || view.effective.missing != placement::Missing::Nothing)
      view.why = why(route, view);
    return view;
  }

  // Of requests that no pattern matches.
  RouteView view_of_others() const {
    RouteView view;
    view.inputs.upstream = upstream();
    view.hosts = hosts_;
    view.why = "no route matches";
    return view;
  }

 private:
  placement::UpstreamConnection upstream() const {
    return options_.upstream_keepalive ? placement::UpstreamConnection::Reused
                                       : placement::UpstreamConnection::PerRequest;
  }

  const calibration::Host* calibrated(const std::string& name) const {
    return knowledge_.calibration != nullptr ? knowledge_.calibration->find_host(name) : nullptr;
  }

  placement::HostInputs way_to(std::size_t index, const std::string& name) const {
    placement::HostInputs inputs;
    if (index < knowledge_.hosts.size()) {
      const HostReport& report = knowledge_.hosts[index];
      if (report.connect) inputs.client = inputs.connect = Millis(*report.connect);
      if (report.path) inputs.path = Millis(*report.path);
      // Without a health page the connect is all there is of the way.
      if (!report.path && snapshot_.config->compute_hosts[index].health_path.empty())
        inputs.path = inputs.client;
    }
    if (const calibration::Host* host = calibrated(name)) {
      if (!inputs.path && host->health) inputs.path = host->health->median;
      if (!inputs.connect && host->connect) inputs.connect = inputs.client = host->connect->median;
    }
    return inputs;
  }

  std::optional<double> observed(std::optional<std::size_t> route) const {
    if (!route) return std::nullopt;
    const profile::Route& known = contents_->routes[*route];
    const bool enough = known.requests >= options_.min_route_requests;
    const double untraced_max = fraction(options_.max_untraced_share);
    if (!enough || known.untraced_share > untraced_max) return std::nullopt;
    return known.n_serial_median;
  }
  std::optional<double> counted(const config::PlacerRoute& route, std::optional<std::size_t> index) const {
    if (knowledge_.calibration != nullptr) {
      const calibration::Route* known = knowledge_.calibration->find_route(route.profile_route);
      if (known != nullptr && known->n_serial) return known->n_serial;
    }
    if (index && contents_->routes[*index].n_serial_calibrated >= 0)
      return contents_->routes[*index].n_serial_calibrated;
    return std::nullopt;
  }
  std::optional<double> n_serial(const config::PlacerRoute& route, std::optional<std::size_t> index) const {
    switch (route.n_serial.source) {
      case config::SerialCalls::Source::Fixed:
        return route.n_serial.number;
      case config::SerialCalls::Source::Calibrated:
        return counted(route, index);
      case config::SerialCalls::Source::Profile:
        if (const auto number = observed(index)) return number;
        return counted(route, index);
    }
    return std::nullopt;
  }

  std::optional<Millis> profiled_sql(const config::PlacerRoute& route, std::optional<std::size_t> index,
                                     std::size_t host) const {
    if (contents_ == nullptr || !profile_hosts_[host]) return std::nullopt;
    const std::string& class_name = route.priority_class.empty() && index
                                        ? contents_->routes[*index].priority_class
                                        : route.priority_class;
    return calibration::sql_by_profile(*contents_, snapshot_.hosts[host]->name, route.target, class_name,
                                       now_, options_.rtt_max_age);
  }
  std::optional<Millis> calibrated_sql(std::size_t host) const {
    const calibration::Host* known = calibrated(snapshot_.hosts[host]->name);
    if (known == nullptr || !known->select_1) return std::nullopt;
    return known->select_1->median;
  }

  std::optional<Millis> residual(const config::PlacerRoute& route, std::optional<std::size_t> index,
                                 std::size_t host, std::optional<double> calls,
                                 calibration::SqlSource sql) const {
    const std::string& name = snapshot_.hosts[host]->name;
    if (knowledge_.calibration != nullptr && calls) {
      const calibration::Route* known = knowledge_.calibration->find_route(route.profile_route);
      if (known != nullptr)
        if (const auto found = calibration::residual_for(*knowledge_.calibration, *known, name, *calls, sql))
          return found;
    }
    if (!index || !profile_hosts_[host]) return std::nullopt;
    const profile::Residual& known =
        contents_->residuals[*profile_hosts_[host] * contents_->routes.size() + *index];
    if (known.samples == 0) return std::nullopt;
    return Millis(known.residual);
  }

  Millis dependencies(const config::PlacerRoute& route, const std::string& host) const {
    Millis sum{};
    for (const config::Dependency& dependency : snapshot_.config->dependencies) {
      const auto calls = std::find_if(dependency.n_serial.begin(), dependency.n_serial.end(),
                                      [&](const auto& entry) { return entry.first == route.pattern; });
      const auto time = std::find_if(dependency.rtt.begin(), dependency.rtt.end(),
                                     [&](const auto& entry) { return entry.first == host; });
      if (calls == dependency.n_serial.end() || time == dependency.rtt.end()) continue;
      sum += calls->second * Millis(time->second);
    }
    return sum;
  }

  std::string why(const config::PlacerRoute& route, const RouteView& view) const {
    const std::string& host = snapshot_.hosts[view.effective.host]->name;
    switch (view.effective.missing) {
      case placement::Missing::Nothing:
        return "";
      case placement::Missing::NSerial:
        return "its number of serial calls is not known: the router has seen too few requests of " +
               route.profile_route + ", or too many calls without a trace, and none is calibrated";
      case placement::Missing::Path:
        return "the way to " + host + " has not been measured";
      case placement::Missing::Connect:
        return "no connect to " + host + " has been measured";
      case placement::Missing::Sql:
        return "the round trip from " + host + " to the database is not known";
      case placement::Missing::Residual:
        return "it is not calibrated on " + host;
    }
    return "";
  }

  const Snapshot& snapshot_;
  const config::PlacerOptions& options_;
  const Knowledge& knowledge_;
  const Clock::time_point now_;
  const profile::Contents* contents_ = nullptr;  // of a profile that is believed
  std::vector<placement::HostInputs> hosts_;     // what does not depend on the route
  std::vector<std::optional<std::size_t>> profile_hosts_;
};

}  // namespace

std::string distrust(const profile::Profile& profile, const config::PlacerOptions& options,
                     Clock::time_point now) {
  const profile::Publication& publication = profile.publication;
  if (publication.publications == 0) return "the router has not written anything into it yet";
  if (publication.closed) return "the router that wrote it has ended";
  if (profile::writer_state(publication, now) == profile::WriterState::Dead)
    return fmt::format("its router gives no sign of life, the last {:.1f} s ago",
                       seconds_of(now - publication.heartbeat));
  const auto age = now - std::min(publication.heartbeat, publication.contents_at);
  if (age > options.profile_max_age)
    return fmt::format("its values are {:.1f} s old, and profile_max_age is {:.1f} s", seconds_of(age),
                       seconds_of(options.profile_max_age));
  if (!profile::is_consistent(profile.contents)) return "its tables do not fit together";
  return "";
}

View make_view(SnapshotPtr snapshot, const Knowledge& knowledge, Clock::time_point now) {
  View view;
  const Planner planner(*snapshot, knowledge, now);
  view.routes.reserve(snapshot->config->routes.size() + 1);
  for (const config::PlacerRoute& route : snapshot->config->routes)
    view.routes.push_back(planner.view_of(route));
  view.routes.push_back(planner.view_of_others());
  view.snapshot = std::move(snapshot);
  return view;
}

PolicyState policy_state(const View& view, const Knowledge& knowledge) {
  constexpr std::size_t kRoutesNamed = 3;
  PolicyState state;
  const config::PlacerConfig& config = *view.snapshot->config;
  if (config.options.policy != placement::Policy::UserFirst) {
    if (!knowledge.profile_problem.empty()) state.reasons.push_back("profile: " + knowledge.profile_problem);
    if (!knowledge.calibration_problem.empty())
      state.reasons.push_back("calibration: " + knowledge.calibration_problem);
  }
  std::map<placement::Policy, std::size_t> followed;
  std::map<std::string, std::vector<std::string>> causes;
  for (std::size_t i = 0; i < config.routes.size(); ++i) {
    const RouteView& route = view.routes[i];
    ++followed[route.effective.policy];
    if (route.why.empty()) continue;
    state.degraded = true;
    causes[std::string(placement::policy_name(route.effective.policy)) + ": " + route.why].push_back(
        config.routes[i].pattern);
  }
  if (config.routes.empty()) {
    state.summary = "no routes are configured: user_first for every request";
  } else {
    state.summary = std::string(placement::policy_name(config.options.policy)) + " is wanted;";
    for (const auto& [policy, count] : followed)
      state.summary +=
          fmt::format(" {} for {} of {} routes", placement::policy_name(policy), count, config.routes.size());
  }
  for (const auto& [cause, patterns] : causes) {
    std::string named;
    for (std::size_t i = 0; i < std::min(patterns.size(), kRoutesNamed); ++i)
      named += (i > 0 ? ", " : "") + patterns[i];
    if (patterns.size() > kRoutesNamed) named += fmt::format(" and {} more", patterns.size() - kRoutesNamed);
    state.reasons.push_back(named + " by " + cause);
  }
  return state;
}

}  // namespace sluice::placer
