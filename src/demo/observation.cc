#include "demo/observation.h"

#include <algorithm>

#include <nlohmann/json.hpp>

namespace sluice::demo {
namespace {

using Json = nlohmann::json;

std::string text_or_empty(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

// "2026-11-29 12:34:56.789 UTC" or with a T between: the time of day alone.
std::string time_of_day(const std::string& time) {
  const std::size_t colon = time.find(':');
  return colon == std::string::npos || colon < 2 ? time : time.substr(colon - 2, 8);
}

}  // namespace

std::vector<ObservedReplica> read_replicas(std::string_view json, const std::vector<std::string>& classes) {
  std::vector<ObservedReplica> replicas;
  const Json page = Json::parse(json);
  for (const Json& row : page.at("replicas")) {
    ObservedReplica replica;
    replica.name = row.at("name").get<std::string>();
    replica.role = row.at("role").get<std::string>();
    replica.pool = text_or_empty(row, "pool");
    replica.borrowed = row.at("borrowed").get<bool>();
    replica.up = row.at("up").get<bool>();
    const Json& loads = row.at("loads");
    for (const std::string& name : classes)
      replica.sessions.push_back(loads.is_object() ? loads.value(name, std::int64_t{0}) : 0);
    replicas.push_back(std::move(replica));
  }
  return replicas;
}

std::vector<RoleChange> read_changes(std::string_view json, std::int64_t& after) {
  std::vector<RoleChange> changes;
  const std::int64_t known = after;
  const Json page = Json::parse(json);
  for (const Json& row : page.at("decisions")) {
    const auto number = row.at("number").get<std::int64_t>();
    if (number <= known) continue;
    after = std::max(after, number);
    const auto list = row.find("changes");
    if (list == row.end() || !list->is_array()) continue;
    for (const Json& change : *list) {
      RoleChange result;
      result.number = number;
      result.time = time_of_day(text_or_empty(row, "time"));
      result.replica = change.at("replica").get<std::string>();
      result.from = change.at("from").get<std::string>();
      result.to = change.at("to").get<std::string>();
      result.borrow = change.at("kind").get<std::string>() == "borrow";
      result.priority_class = result.borrow ? result.to : result.from;
      changes.push_back(std::move(result));
    }
  }
  return changes;
}

std::vector<ObservedRoute> read_routes(std::string_view json) {
  std::vector<ObservedRoute> routes;
  const Json page = Json::parse(json);
  for (const Json& row : page.at("routes")) {
    ObservedRoute route;
    route.route = text_or_empty(row, "route");
    if (route.route.empty()) continue;  // requests of no route
    route.host = text_or_empty(row, "chosen");
    route.policy = row.at("policy").get<std::string>();
    if (const Json& calls = row.at("n_serial"); calls.is_number()) route.n_serial = calls.get<double>();
    routes.push_back(std::move(route));
  }
  return routes;
}

std::size_t count_hosts_up(std::string_view json) {
  const Json page = Json::parse(json);
  const Json& hosts = page.at("hosts");
  return static_cast<std::size_t>(
      std::count_if(hosts.begin(), hosts.end(), [](const Json& host) { return host.at("up").get<bool>(); }));
}

}  // namespace sluice::demo
