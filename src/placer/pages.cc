#include "placer/pages.h"

#include <algorithm>
#include <mutex>
#include <span>

#include <nlohmann/json.hpp>

#include "web/asset_page.h"

namespace sluice::placer {
namespace {

using Json = nlohmann::ordered_json;
using placement::Millis;

struct Row {
  std::string_view path, help;
};
constexpr Row kPages[] = {
    {"/", "The placer's page for browsers, this list for others."},
    {"/placer", "The page: hosts, scores by term, where requests went, what is missing."},
    {"/metrics", "Metrics in the text format of Prometheus."},
    {"/healthz", "200 while the process serves; says which policy is followed, and why not the wanted one."},
    {"/readyz", "200 while requests are taken and a compute host is up, else 503 and why not."},
    {"/v1/hosts", "Compute hosts: health, the way to them, requests in flight. JSON."},
    {"/v1/overview",
     "Hosts, scores of all routes, the policy that is followed and why, and the last hour. JSON."},
    {"/v1/explain?route=/feed",
     "Where a request for that path would go, with every term of every host's score. JSON."},
};

constexpr std::string_view kNoPage =
    "This program was built without its page. To have it, install Node.js and npm and build with "
    "-DSLUICE_DASHBOARD=ON;\nwhat it shows is under /v1 as well.";

Json in_millis(std::optional<Millis> time) {
  return time ? Json(time->count()) : Json(nullptr);
}
Json in_millis(std::optional<std::chrono::nanoseconds> time) {
  return time ? Json(Millis(*time).count()) : Json(nullptr);
}

http::Page json_page(const Json& document) {
  http::Page page;
  page.content_type = "application/json";
  page.body = document.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
  return page;
}

Json terms_json(const placement::Terms& terms) {
  Json json = Json::object();
  json["path"] = terms.path.count();
  json["connect"] = terms.connect.count();
  json["database"] = terms.database.count();
  json["dependencies"] = terms.dependencies.count();
  json["residual"] = terms.residual.count();
  json["correction"] = terms.correction.count();
  json["waiting"] = terms.waiting.count();
  json["total"] = terms.total().count();
  return json;
}

Json inputs_json(const placement::HostInputs& inputs) {
  Json json = Json::object();
  json["client"] = in_millis(inputs.client);
  json["path"] = in_millis(inputs.path);
  json["connect"] = in_millis(inputs.connect);
  json["sql"] = in_millis(inputs.sql);
  json["residual"] = in_millis(inputs.residual);
  json["dependencies"] = inputs.dependencies.count();
  return json;
}

// What adaptive says of the route, under its lock.
struct Learnt {
  std::vector<placement::Terms> terms;
  std::vector<double> shares;
  std::optional<std::size_t> preferred;
};
Learnt learnt_of(const AdminFacts& facts, std::size_t route, const placement::RouteInputs& inputs,
                 std::span<const placement::HostInputs> hosts) {
  Learnt learnt;
  learnt.terms.resize(hosts.size());
  const auto now = std::chrono::duration_cast<placement::Now>(facts.now.time_since_epoch());
  Learner& learner = *facts.view->snapshot->learner;
  const std::lock_guard lock(learner.mutex);
  learner.adaptive.explain(route, inputs, hosts, now, learnt.terms);
  for (std::size_t i = 0; i < hosts.size(); ++i)
    learnt.shares.push_back(learner.adaptive.share(route, i));
  learnt.preferred = learner.adaptive.preferred(route);
  return learnt;
}

Json hosts_json(const AdminFacts& facts) {
  const Snapshot& snapshot = *facts.view->snapshot;
  Json list = Json::array();
  for (std::size_t i = 0; i < snapshot.hosts.size(); ++i) {
    const HostState& host = *snapshot.hosts[i];
    const HostReport& report = facts.hosts[i];
    Json json = Json::object();
    json["name"] = host.name;
    json["address"] = host.target.host;
    json["port"] = host.target.port;
    json["up"] = report.up;
    json["problem"] = report.problem;
    json["path_ms"] = in_millis(report.path);
    json["connect_ms"] = in_millis(report.connect);
    json["samples"] = report.samples;
    json["measured_seconds_ago"] =
        report.measured_at ? Json(std::chrono::duration<double>(facts.now - *report.measured_at).count())
                           : Json(nullptr);
    json["in_flight"] = host.in_flight.load(std::memory_order_relaxed);
    json["failures_in_row"] = host.failures_in_row.load(std::memory_order_relaxed);
    list.push_back(std::move(json));
  }
  return list;
}

// What became of a route, host by host; behind the configured ones comes that of no route.
enum class Detail { Scores, WithInputs };
Json route_json(const AdminFacts& facts, std::size_t index, Detail detail) {
  const Snapshot& snapshot = *facts.view->snapshot;
  const config::PlacerConfig& config = *snapshot.config;
  const RouteView& view = facts.view->routes[index];
  std::vector<placement::HostInputs> candidates = view.hosts;
  for (std::size_t i = 0; i < candidates.size(); ++i)
    candidates[i].candidate = facts.hosts[i].up;

  Json json = Json::object();
  json["route"] = index < config.routes.size() ? Json(config.routes[index].pattern) : Json(nullptr);
  const bool one_method = index < config.routes.size() && !config.routes[index].method.empty();
  json["method"] = one_method ? Json(config.routes[index].method) : Json(nullptr);
  json["wanted_policy"] = placement::policy_name(index < config.routes.size() ? config.options.policy
                                                                              : placement::Policy::UserFirst);
  json["policy"] = placement::policy_name(view.effective.policy);
  json["missing"] = placement::missing_name(view.effective.missing);
  json["why"] = view.why;
  json["n_serial"] = view.inputs.n_serial ? Json(*view.inputs.n_serial) : Json(nullptr);
  const bool adaptive = view.effective.policy == placement::Policy::Adaptive && snapshot.learner != nullptr;
  const Learnt learnt = adaptive ? learnt_of(facts, index, view.inputs, candidates) : Learnt{};
  auto chosen = placement::choose(view.effective.policy, view.inputs, candidates);
  if (learnt.preferred && candidates[*learnt.preferred].candidate) chosen = learnt.preferred;
  json["chosen"] = chosen ? Json(snapshot.hosts[*chosen]->name) : Json(nullptr);
  Json list = Json::array();
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    Json host = Json::object();
    host["name"] = snapshot.hosts[i]->name;
    host["up"] = candidates[i].candidate;
    host["score_ms"] = terms_json(
        adaptive ? learnt.terms[i] : placement::terms(view.effective.policy, view.inputs, view.hosts[i]));
    if (detail == Detail::WithInputs) host["known_ms"] = inputs_json(view.hosts[i]);
    if (adaptive) host["share"] = learnt.shares[i];
    list.push_back(std::move(host));
  }
  json["hosts"] = std::move(list);
  return json;
}

Json history_json(const RequestHistory& history) {
  Json times = Json::array(), degraded = Json::array(), hosts = Json::array();
  std::vector<std::string> names;
  for (const RequestHistory::Sample& sample : history.samples()) {
    times.push_back(
        std::chrono::duration_cast<std::chrono::milliseconds>(sample.time.time_since_epoch()).count());
    degraded.push_back(sample.degraded);
    for (const RequestHistory::OfHost& host : sample.hosts)
      if (std::find(names.begin(), names.end(), host.name) == names.end()) names.push_back(host.name);
  }
  for (const std::string& name : names) {
    Json requests = Json::array();
    for (const RequestHistory::Sample& sample : history.samples()) {
      const auto host = std::find_if(sample.hosts.begin(), sample.hosts.end(),
                                     [&](const RequestHistory::OfHost& one) { return one.name == name; });
      requests.push_back(host == sample.hosts.end() ? Json(nullptr) : Json(host->requests));
    }
    hosts.push_back({{"name", name}, {"requests", std::move(requests)}});
  }
  return {{"step_s", RequestHistory::kStep.count()},
          {"times_ms", std::move(times)},
          {"degraded", std::move(degraded)},
          {"hosts", std::move(hosts)}};
}

}  // namespace

http::Page index_page() {
  http::Page page;
  page.body = "Sluice placer, HTTP admin\n\n";
  if (!has_dashboard()) page.body += std::string(kNoPage) + "\n\n";
  for (const Row& row : kPages) {
    std::string padded(row.path);
    padded.resize(std::max<std::size_t>(padded.size(), 24), ' ');
    page.body.append(padded).append("  ").append(row.help).append("\n");
  }
  return page;
}

http::Page error_page(int status, std::string_view sentence) {
  http::Page page;
  page.status = status;
  if (sentence.empty()) {
    sentence = status == 404   ? "There is nothing here; see / for what there is."
               : status == 405 ? "Only GET and HEAD are answered here."
               : status == 413 ? "Requests have no body here."
               : status == 421
                   ? "This port is not known by the name that it was asked for by (Host). Ask for "
                     "its address in numbers, or add the name to admin_names."
               : status == 431 ? "The request's headers are too long."
               : status == 503 ? "Too many connections."
                               : "This is no HTTP/1.1 request that can be understood.";
  }
  page.body = std::string(sentence) + '\n';
  if (status == 405) page.allow = "GET, HEAD";
  return page;
}

http::Page health_page(const AdminFacts& facts) {
  http::Page page;
  page.body = "ok\npolicy: " + facts.policy.summary + "\n";
  if (!facts.profile.empty()) page.body += "profile: " + facts.profile + "\n";
  for (const std::string& reason : facts.policy.reasons)
    page.body += "degraded: " + reason + "\n";
  return page;
}

http::Page ready_page(const AdminFacts& facts) {
  if (facts.shutting_down) return error_page(503, "shutting down");
  const bool any =
      std::any_of(facts.hosts.begin(), facts.hosts.end(), [](const HostReport& host) { return host.up; });
  if (!any) return error_page(503, "no compute host is up");
  http::Page page;
  page.body = "ready\n";
  return page;
}

http::Page hosts_page(const AdminFacts& facts) {
  return json_page(Json{{"hosts", hosts_json(facts)}});
}

http::Page overview_page(const AdminFacts& facts, const RequestHistory& history) {
  const Snapshot& snapshot = *facts.view->snapshot;
  Json routes = Json::array();
  for (std::size_t i = 0; i <= snapshot.config->routes.size(); ++i)
    routes.push_back(route_json(facts, i, Detail::Scores));
  const bool ready = ready_page(facts).status == 200;
  const Json document = {{"version", SLUICE_VERSION},
                         {"ready", ready},
                         {"shutting_down", facts.shutting_down},
                         {"policy", facts.policy.summary},
                         {"degraded", facts.policy.degraded},
                         {"reasons", facts.policy.reasons},
                         {"profile", facts.profile},
                         {"hosts", hosts_json(facts)},
                         {"routes", std::move(routes)},
                         {"history", history_json(history)}};
  http::Page page;
  page.content_type = "application/json";
  page.body = document.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
  return page;
}

bool has_dashboard() noexcept {
  return web::find_asset("/placer") != nullptr;
}

http::Page dashboard_page(std::string_view path, std::string_view accept_encoding) {
  if (const web::Asset* asset = web::find_asset(path)) return web::asset_page(*asset, accept_encoding);
  return error_page(404, kNoPage);
}

http::Page explain_page(const AdminFacts& facts, std::string_view method, std::string_view path) {
  const Snapshot& snapshot = *facts.view->snapshot;
  const config::PlacerConfig& config = *snapshot.config;
  if (path.empty()) return error_page(400, "Say which: /v1/explain?route=/feed");
  std::size_t index = config.routes.size();
  const auto is_meant = [&](const config::PlacerRoute& route) {
    return route.pattern == path && (method.empty() || route.method.empty() || route.method == method);
  };
  for (std::size_t i = 0; i < config.routes.size() && index == config.routes.size(); ++i)
    if (is_meant(config.routes[i])) index = i;
  if (index == config.routes.size())
    index = snapshot.table.match(method.empty() ? "GET" : method, path.substr(0, path.find('?')))
                .value_or(static_cast<std::uint32_t>(index));
  return json_page(route_json(facts, index, Detail::WithInputs));
}

std::string placer_http_reference() {
  std::string out = R"(# Placer's HTTP admin

<!-- Generated from the table of pages in src/placer. Change it there; a test compares. -->

The placer answers GET and HEAD on `admin_addr` and `admin_port`, which is loopback unless configured otherwise: there is no
login, so whoever reaches the address may read what it shows. It changes nothing. It answers by numeric address, as localhost, and by
the names in `admin_names`; requests for another name (`Host`) get 421 ([why](http.md#names)).

| path | what it gives |
| --- | --- |
)";
  for (const Row& row : kPages)
    out.append("| `").append(row.path).append("` | ").append(row.help).append(" |\n");
  out += R"(
All times of the JSON pages are milliseconds where the name ends in `_ms`. In `explain`, `score_ms` holds the terms whose sum
is the score under the policy that is followed, and `known_ms` what is known of the host for the route, `null` where nothing
is: `client` is the TCP connect that user_first goes by, `path` a request for the health page, `sql` one call to the
database. `missing` names the first term that the wanted policy lacks, `why` says it in words; `method` is `null` for a route of all methods. Under adaptive, `share` is the
part of the route's requests that goes to the host now. `/v1/overview`, made at most once a second whoever asks, has the scores of each route, the last with `null` for requests of no route, and
of every ten seconds of the last hour the requests that each host was chosen for, and whether some configured route was not placed by the wanted policy at their end (`degraded`).
)";
  return out;
}

}  // namespace sluice::placer
