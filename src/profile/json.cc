#include "profile/json.h"

#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

#include "profile/profile_error.h"
#include "profile/records.h"

namespace sluice::profile {
namespace {

using Json = nlohmann::ordered_json;

// Ages beyond this are those of a moment that nobody ever had: ten years.
constexpr std::int64_t kAgeMsMax = std::int64_t{10} * 365 * 24 * 3600 * 1000;

Json age_of(Moment moment, Moment now) {
  if (moment == Moment{}) return nullptr;
  const std::int64_t age = std::chrono::duration_cast<std::chrono::milliseconds>(now - moment).count();
  return std::clamp<std::int64_t>(age, 0, kAgeMsMax);
}

// Members of an object of unknown make.
class JsonReading {
 public:
  JsonReading(const Json& object, Moment now) : object_(object), now_(now) {}

  std::int64_t integer(const char* name) const {
    const Json* const value = find(name);
    if (value == nullptr || !value->is_number()) return 0;
    if (value->is_number_unsigned())
      return static_cast<std::int64_t>(std::min<std::uint64_t>(value->get<std::uint64_t>(), INT64_MAX));
    if (value->is_number_integer()) return value->get<std::int64_t>();
    const double number = value->get<double>();
    return std::abs(number) < 9e18 ? static_cast<std::int64_t>(number) : 0;
  }
  std::uint64_t count(const char* name) const {
    const Json* const value = find(name);
    if (value != nullptr && value->is_number_unsigned()) return value->get<std::uint64_t>();
    return static_cast<std::uint64_t>(std::max<std::int64_t>(0, integer(name)));
  }
  std::uint32_t small_count(const char* name) const {
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(count(name), UINT32_MAX));
  }
  Nanos duration(const char* name) const { return nanos_of(integer(name)); }
  double number(const char* name, double otherwise) const {
    const Json* const value = find(name);
    return value != nullptr && value->is_number() ? finite(value->get<double>()) : otherwise;
  }
  std::string text(const char* name) const {
    const Json* const value = find(name);
    return value != nullptr && value->is_string() ? value->get<std::string>() : "";
  }
  bool flag(const char* name) const {
    const Json* const value = find(name);
    return value != nullptr && value->is_boolean() && value->get<bool>();
  }
  Moment moment(const char* age_name) const {
    const Json* const value = find(age_name);
    if (value == nullptr || !value->is_number()) return {};
    const Moment then =
        now_ - std::chrono::milliseconds(std::clamp<std::int64_t>(integer(age_name), 0, kAgeMsMax));
    return then == Moment{} ? then - Nanos(1) : then;  // that one would mean none
  }
  const Json& list(const char* name) const {
    static const Json kEmpty = Json::array();
    const Json* const value = find(name);
    return value != nullptr && value->is_array() ? *value : kEmpty;
  }

 private:
  const Json* find(const char* name) const {
    if (!object_.is_object()) return nullptr;
    const auto found = object_.find(name);
    return found == object_.end() ? nullptr : &*found;
  }

  const Json& object_;
  const Moment now_;
};

Json host_json(const Host& h, Moment now) {
  return {{"name", h.name},
          {"client_leg_ns", h.client_leg.count()},
          {"client_leg_min_ns", h.client_leg_min.count()},
          {"client_leg_deviation_ns", h.client_leg_deviation.count()},
          {"samples", h.samples},
          {"age_ms", age_of(h.measured_at, now)},
          {"sessions", h.sessions},
          {"path_ns", h.path.count()},
          {"connect_ns", h.connect.count()},
          {"path_samples", h.path_samples},
          {"calibrated_age_ms", age_of(h.calibrated_at, now)}};
}

Host host_of(const JsonReading& r) {
  Host h;
  h.name = r.text("name");
  h.client_leg = r.duration("client_leg_ns");
  h.client_leg_min = r.duration("client_leg_min_ns");
  h.client_leg_deviation = r.duration("client_leg_deviation_ns");
  h.samples = r.count("samples");
  h.measured_at = r.moment("age_ms");
  h.sessions = r.small_count("sessions");
  h.path = r.duration("path_ns");
  h.connect = r.duration("connect_ns");
  h.path_samples = r.small_count("path_samples");
  h.calibrated_at = r.moment("calibrated_age_ms");
  return h;
}

Json server_json(const Server& s, Moment now) {
  return {{"name", s.name},
          {"role", s.role == ServerRole::Primary ? "primary" : "replica"},
          {"up", s.up},
          {"median_ns", s.median.count()},
          {"minimum_ns", s.minimum.count()},
          {"ewma_ns", s.ewma.count()},
          {"samples", s.samples},
          {"age_ms", age_of(s.measured_at, now)}};
}

Server server_of(const JsonReading& r) {
  Server s;
  s.name = r.text("name");
  s.role = r.text("role") == "primary" ? ServerRole::Primary : ServerRole::Replica;
  s.up = r.flag("up");
  s.median = r.duration("median_ns");
  s.minimum = r.duration("minimum_ns");
  s.ewma = r.duration("ewma_ns");
  s.samples = r.count("samples");
  s.measured_at = r.moment("age_ms");
  return s;
}

Json rtt_json(const Rtt& rtt, Moment now) {
  if (rtt.source == Rtt::Source::None) return nullptr;
  return {{"estimate_ns", rtt.estimate.count()},
          {"samples", rtt.samples},
          {"source", rtt.source == Rtt::Source::Measured ? "measured" : "calibrated"},
          {"age_ms", age_of(rtt.measured_at, now)}};
}

Rtt rtt_of(const JsonReading& r) {
  const std::string source = r.text("source");
  Rtt rtt;
  rtt.estimate = r.duration("estimate_ns");
  rtt.samples = r.count("samples");
  rtt.source = source == "measured"     ? Rtt::Source::Measured
               : source == "calibrated" ? Rtt::Source::Calibrated
                                        : Rtt::Source::None;
  rtt.measured_at = r.moment("age_ms");
  return rtt;
}

Json route_json(const Route& route, Moment now) {
  Json json = {{"name", route.name},
               {"class", route.priority_class},
               {"requests", route.requests},
               {"n_serial_mean", route.n_serial_mean},
               {"n_serial_median", route.n_serial_median},
               {"n_serial_p90", route.n_serial_p90},
               {"untraced_share", route.untraced_share},
               {"age_ms", age_of(route.last_seen, now)},
               {"n_serial_calibrated", nullptr}};
  if (route.n_serial_calibrated >= 0) json["n_serial_calibrated"] = route.n_serial_calibrated;
  return json;
}

Route route_of(const JsonReading& r) {
  Route route;
  route.name = r.text("name");
  route.priority_class = r.text("class");
  route.requests = r.count("requests");
  route.n_serial_mean = r.number("n_serial_mean", 0);
  route.n_serial_median = r.number("n_serial_median", 0);
  route.n_serial_p90 = r.number("n_serial_p90", 0);
  route.untraced_share = std::clamp(r.number("untraced_share", 0), 0.0, 1.0);
  route.last_seen = r.moment("age_ms");
  route.n_serial_calibrated = r.number("n_serial_calibrated", -1);
  return route;
}

Json residual_json(const Residual& residual, Moment now) {
  if (residual.samples == 0) return nullptr;
  return {{"residual_ns", residual.residual.count()},
          {"samples", residual.samples},
          {"age_ms", age_of(residual.measured_at, now)}};
}

Residual residual_of(const JsonReading& r) {
  return {r.duration("residual_ns"), r.small_count("samples"), r.moment("age_ms")};
}

Json publication_json(const Publication& p, Moment now) {
  return {{"generation", p.generation},
          {"publications", p.publications},
          {"writer_pid", p.writer_pid},
          {"writer", writer_state_name(writer_state(p, now))},
          {"started_age_ms", age_of(p.started_at, now)},
          // One yet to come is of a writer that was dead before the machine started: it must not look young.
          {"heartbeat_age_ms", p.heartbeat > now ? Json(nullptr) : age_of(p.heartbeat, now)},
          {"contents_age_ms", age_of(p.contents_at, now)},
          {"interval_ms", std::chrono::duration_cast<std::chrono::milliseconds>(p.interval).count()}};
}

Publication publication_of(const JsonReading& r) {
  Publication p;
  p.generation = r.count("generation");
  p.publications = r.count("publications");
  p.writer_pid = r.integer("writer_pid");
  p.closed = r.text("writer") == "closed";
  p.started_at = r.moment("started_age_ms");
  p.heartbeat = r.moment("heartbeat_age_ms");
  p.contents_at = r.moment("contents_age_ms");
  p.interval = std::chrono::milliseconds(std::clamp<std::int64_t>(r.integer("interval_ms"), 0, kAgeMsMax));
  return p;
}

template <class List, class Make>
Json list_json(const List& list, Make make) {
  Json array = Json::array();
  for (const auto& element : list)
    array.push_back(make(element));
  return array;
}

// Row-major, `width` to a row.
template <class List, class Make>
Json matrix_json(const List& list, std::size_t rows, std::size_t width, Make make) {
  Json array = Json::array();
  for (std::size_t i = 0; i < rows; ++i) {
    Json row = Json::array();
    for (std::size_t j = 0; j < width; ++j)
      row.push_back(make(list[i * width + j]));
    array.push_back(std::move(row));
  }
  return array;
}

// Rows and cells that are missing stay as they are; those beyond the matrix are passed over.
template <class List, class Make>
void take_matrix(const Json& rows, List& list, std::size_t width, Make make) {
  for (std::size_t i = 0; i < rows.size() && (i + 1) * width <= list.size(); ++i)
    for (std::size_t j = 0; rows[i].is_array() && j < rows[i].size() && j < width; ++j)
      list[i * width + j] = make(rows[i][j]);
}

}  // namespace

std::string to_json(const Profile& profile, Moment now) {
  const Contents& c = profile.contents;
  const auto with_now = [now](auto make) {
    return [now, make](const auto& value) { return make(value, now); };
  };
  Json document;
  document["publication"] = publication_json(profile.publication, now);
  document["hosts"] = list_json(c.hosts, with_now(host_json));
  document["servers"] = list_json(c.servers, with_now(server_json));
  document["rtt"] = matrix_json(c.rtt, c.hosts.size(), c.servers.size(), with_now(rtt_json));
  document["classes"] = c.classes;
  document["shares"] =
      matrix_json(c.shares, c.classes.size(), c.servers.size(), [](double s) { return Json(s); });
  document["routes"] = list_json(c.routes, with_now(route_json));
  document["residuals"] = matrix_json(c.residuals, c.hosts.size(), c.routes.size(), with_now(residual_json));
  // Names of routes come from clients: what is no UTF-8 is replaced.
  return document.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<Profile> from_json(std::string_view text, Moment now) {
  const Json document = Json::parse(text, nullptr, false);
  const JsonReading top(document, now);
  if (document.is_discarded() || !document.is_object() || !document.contains("publication"))
    return ProfileErrc::Malformed;
  const auto reading = [now](auto make) {
    return [now, make](const Json& json) { return make(JsonReading(json, now)); };
  };
  Profile profile;
  profile.publication = publication_of(JsonReading(document["publication"], now));
  Contents& c = profile.contents;
  for (const Json& host : top.list("hosts"))
    c.hosts.push_back(host_of(JsonReading(host, now)));
  for (const Json& server : top.list("servers"))
    c.servers.push_back(server_of(JsonReading(server, now)));
  for (const Json& name : top.list("classes"))
    c.classes.push_back(name.is_string() ? name.get<std::string>() : "");
  for (const Json& route : top.list("routes"))
    c.routes.push_back(route_of(JsonReading(route, now)));
  // The lists are as long as the text allows, their products are not.
  constexpr std::size_t kCellsMax = 1 << 22;
  for (const std::size_t width : {c.servers.size(), c.routes.size()})
    if (width > 0 && c.hosts.size() > kCellsMax / width) return ProfileErrc::Malformed;
  if (!c.servers.empty() && c.classes.size() > kCellsMax / c.servers.size()) return ProfileErrc::Malformed;
  fit_matrices(c);
  take_matrix(top.list("rtt"), c.rtt, c.servers.size(), reading(rtt_of));
  take_matrix(top.list("shares"), c.shares, c.servers.size(), [](const Json& share) {
    return share.is_number() ? std::clamp(finite(share.get<double>()), 0.0, 1.0) : 0.0;
  });
  take_matrix(top.list("residuals"), c.residuals, c.routes.size(), reading(residual_of));
  return profile;
}

}  // namespace sluice::profile
