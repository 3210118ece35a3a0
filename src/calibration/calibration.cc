#include "calibration/calibration.h"

#include <algorithm>

#include "sluice/placement/calibration.h"

namespace sluice::calibration {
namespace {

template <class Records>
auto find_named(Records& records, std::string_view name) noexcept -> decltype(records.data()) {
  const auto found =
      std::find_if(records.begin(), records.end(), [&](const auto& r) { return r.name == name; });
  return found == records.end() ? nullptr : &*found;
}

void take(std::optional<Measurement>& into, const std::optional<Measurement>& more) {
  if (more) into = more;
}

void merge_host(std::vector<Host>& hosts, const Host& more) {
  Host* host = find_named(hosts, more.name);
  if (host == nullptr) {
    hosts.push_back(more);
    return;
  }
  take(host->health, more.health);
  take(host->connect, more.connect);
  take(host->select_1, more.select_1);
}

void merge_route(std::vector<Route>& routes, const Route& more) {
  Route* route = find_named(routes, more.name);
  if (route == nullptr) {
    routes.push_back(more);
    return;
  }
  if (more.n_serial) {
    route->n_serial = more.n_serial;
    route->n_serial_source = more.n_serial_source;
  }
  for (const RouteOnHost& there : more.hosts) {
    const auto same = std::find_if(route->hosts.begin(), route->hosts.end(),
                                   [&](const RouteOnHost& here) { return here.host == there.host; });
    if (same == route->hosts.end())
      route->hosts.push_back(there);
    else
      *same = there;
  }
}

}  // namespace

std::string_view source_word(NSerialSource source) noexcept {
  switch (source) {
    case NSerialSource::Configured:
      return "configured";
    case NSerialSource::Observed:
      return "observed";
    case NSerialSource::Counted:
      return "counted";
  }
  return "?";
}

const Host* Calibration::find_host(std::string_view name) const noexcept {
  return find_named(hosts, name);
}
const Route* Calibration::find_route(std::string_view name) const noexcept {
  return find_named(routes, name);
}

std::optional<Millis> residual_for(const Calibration& calibration, const Route& route, std::string_view host,
                                   double n_serial, SqlSource source) {
  const auto on_host = std::find_if(route.hosts.begin(), route.hosts.end(),
                                    [&](const RouteOnHost& each) { return each.host == host; });
  const Host* const known = calibration.find_host(host);
  if (on_host == route.hosts.end() || known == nullptr || !known->health) return std::nullopt;
  std::optional<Millis> select_1;
  if (known->select_1) select_1 = known->select_1->median;
  const std::optional<Millis>& matrix = on_host->sql;
  const bool by_matrix = matrix && (source == SqlSource::Matrix || !select_1);
  const std::optional<Millis> sql = by_matrix ? matrix : select_1;
  if (n_serial > 0 && !sql) return std::nullopt;
  return placement::residual(on_host->response.median, known->health->median, n_serial,
                             sql.value_or(Millis{}));
}

void complete(Calibration& calibration) {
  for (Route& route : calibration.routes)
    for (RouteOnHost& on_host : route.hosts) {
      on_host.residual.reset();
      if (route.n_serial)
        on_host.residual = residual_for(calibration, route, on_host.host, *route.n_serial, SqlSource::Matrix);
    }
}

void merge(Calibration& into, const Calibration& more) {
  for (const Host& host : more.hosts)
    merge_host(into.hosts, host);
  for (const Route& route : more.routes)
    merge_route(into.routes, route);
  complete(into);
}

}  // namespace sluice::calibration
