#include "admin/dashboard_json.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include <nlohmann/json.hpp>

#include "admin/text.h"
#include "base/text.h"

namespace sluice::admin {
namespace {

using Json = nlohmann::ordered_json;

Json in_micros(std::optional<Micros> time) {
  return time ? Json(time->count()) : Json(nullptr);
}
Json in_millis(std::optional<std::chrono::milliseconds> time) {
  return time ? Json(time->count()) : Json(nullptr);
}
Json in_millis(WallTime time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
}
template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json counts_json(const ClassCounts& counts) {
  Json object = Json::object();
  for (const auto& [name, count] : counts)
    object[displayable(name)] = count;
  return object;
}

Json recent_json(const RecentTimes& recent) {
  return {{"count", recent.count},
          {"median_us", in_micros(recent.times.median)},
          {"p95_us", in_micros(recent.times.p95)},
          {"p99_us", in_micros(recent.times.p99)}};
}

Json class_json(const ClassRow& row) {
  return {{"name", displayable(row.name)},
          {"priority", row.priority},
          {"saturation", row.saturation},
          {"return_ratio", row.return_ratio},
          {"floor", row.floor},
          {"target", row.target},
          {"max_sessions", row.max_sessions},
          {"replicas", row.replicas},
          {"borrowed", row.borrowed},
          {"sessions", row.sessions},
          {"waiting", row.waiting},
          {"longest_wait_us", row.longest_wait.count()},
          {"opened", row.opened},
          {"outcomes", counts_json(row.outcomes)},
          {"response", recent_json(row.recent_response)},
          {"wait", recent_json(row.recent_wait)}};
}

Json replica_json(const ReplicaRow& row) {
  return {{"name", displayable(row.name)},
          {"role", row.role},
          {"host", displayable(row.host)},
          {"port", row.port},
          {"pool", displayable(row.pool)},
          {"borrowed", row.borrowed},
          {"up", row.up},
          {"draining", row.draining},
          {"sessions", row.sessions},
          {"loads", counts_json(row.loads)},
          {"in_recovery", or_null(row.in_recovery)},
          {"lag_ms", in_millis(row.lag)},
          {"lag_bytes", or_null(row.lag_bytes)},
          {"probe_last_us", in_micros(row.probe_last)},
          {"probe_median_us", in_micros(row.probe_median)},
          {"probe_failures", row.probe_failures},
          {"checked_ms_ago", in_millis(row.age)},
          {"last_error", displayable(row.last_error)},
          {"weight", row.weight},
          {"timeline", or_null(row.timeline)},
          {"source", row.source}};
}

struct CellJson {
  Json operator()(std::monostate) const { return nullptr; }
  Json operator()(std::int64_t value) const { return value; }
  Json operator()(bool value) const { return value; }
  Json operator()(const std::string& value) const { return displayable(value); }
  Json operator()(const ClassCounts& counts) const { return counts_json(counts); }
  Json operator()(const FieldsList& list) const {
    Json array = Json::array();
    for (const Fields& fields : list) {
      Json object = Json::object();
      for (const auto& [name, value] : fields)
        object[std::string(name)] = displayable(value);
      array.push_back(std::move(object));
    }
    return array;
  }
};

Json rows_json(const View& view, const std::vector<Row>& rows) {
  Json list = Json::array();
  for (const Row& row : rows) {
    Json object = Json::object();
    for (std::size_t i = 0; i < row.size(); ++i)
      object[std::string(view.columns[i].name)] = std::visit(CellJson{}, row[i]);
    list.push_back(std::move(object));
  }
  return list;
}

// One column per thing that is told of a class; null where there was no such class.
struct ClassColumn {
  const char* name;
  Json (*get)(const History::OfClass&);
};
constexpr std::array<ClassColumn, 8> kClassColumns{{
    {"sessions", [](const History::OfClass& c) { return Json(c.sessions); }},
    {"waiting", [](const History::OfClass& c) { return Json(c.waiting); }},
    {"replicas", [](const History::OfClass& c) { return Json(c.replicas); }},
    {"opened", [](const History::OfClass& c) { return Json(c.opened); }},
    {"median_us", [](const History::OfClass& c) { return in_micros(c.response.median); }},
    {"p95_us", [](const History::OfClass& c) { return in_micros(c.response.p95); }},
    {"p99_us", [](const History::OfClass& c) { return in_micros(c.response.p99); }},
    {"wait_p95_us", [](const History::OfClass& c) { return in_micros(c.wait_p95); }},
}};

const History::OfClass* find_class(const History::Sample& sample, const std::string& name) {
  const auto found = std::find_if(sample.classes.begin(), sample.classes.end(),
                                  [&](const History::OfClass& one) { return one.name == name; });
  return found == sample.classes.end() ? nullptr : &*found;
}

using Samples = std::deque<History::Sample>;

Json class_history(const std::string& name, Samples::const_iterator first, Samples::const_iterator last) {
  Json json = Json::object();
  json["name"] = displayable(name);
  for (const ClassColumn& column : kClassColumns) {
    Json values = Json::array();
    for (auto sample = first; sample != last; ++sample) {
      const History::OfClass* const one = find_class(*sample, name);
      values.push_back(one == nullptr ? Json(nullptr) : column.get(*one));
    }
    json[column.name] = std::move(values);
  }
  return json;
}

Json stay_json(const History::Stay& stay) {
  return {{"since_ms", in_millis(stay.since)},
          {"pool", displayable(stay.pool)},
          {"borrowed", stay.borrowed},
          {"live", stay.live}};
}

}  // namespace

std::string overview_json(const Snapshot& overview, std::string_view version, Commands commands) {
  Json classes = Json::array();
  for (const ClassRow& row : overview.classes)
    classes.push_back(class_json(row));
  Json replicas = Json::array();
  for (const ReplicaRow& row : overview.replicas)
    replicas.push_back(replica_json(row));
  Json rejections = Json::object();
  for (const RejectionRow& row : overview.rejections)
    if (row.count > 0) rejections[row.reason] = row.count;
  Json warnings = Json::array();
  for (const WarningRow& row : overview.warnings)
    warnings.push_back({{"file", displayable(row.file)},
                        {"line", row.line},
                        {"key", displayable(row.key)},
                        {"message", displayable(row.message)},
                        {"hint", displayable(row.hint)}});
  const StateRow& state = overview.state;
  const Json document = {{"version", std::string(version)},
                         {"started_ms", in_millis(state.started)},
                         {"config_loaded_ms", in_millis(state.config_loaded)},
                         {"ready", state.ready},
                         {"reason", displayable(state.reason)},
                         {"shutting_down", state.shutting_down},
                         {"paused", state.paused},
                         {"commands", commands == Commands::WithToken},
                         {"classes", std::move(classes)},
                         {"replicas", std::move(replicas)},
                         {"rejections", std::move(rejections)},
                         {"warnings", std::move(warnings)}};
  return document.dump();
}

std::string rtt_matrix_json(const std::vector<RttRow>& rows) {
  std::vector<std::string> hosts, servers;
  const auto place = [](std::vector<std::string>& names, const std::string& name) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
    names.push_back(name);
    return names.size() - 1;
  };
  std::map<std::pair<std::size_t, std::size_t>, const RttRow*> cells;
  for (const RttRow& row : rows)
    cells[{place(hosts, row.host), place(servers, row.server)}] = &row;
  Json rtt = Json::array(), source = Json::array();
  for (std::size_t h = 0; h < hosts.size(); ++h) {
    Json times = Json::array(), sources = Json::array();
    for (std::size_t s = 0; s < servers.size(); ++s) {
      const auto cell = cells.find({h, s});
      times.push_back(cell == cells.end() ? Json(nullptr) : in_micros(cell->second->rtt));
      sources.push_back(cell == cells.end() ? "" : cell->second->source);
    }
    rtt.push_back(std::move(times));
    source.push_back(std::move(sources));
  }
  const auto shown = [](const std::vector<std::string>& names) {
    Json list = Json::array();
    for (const std::string& name : names)
      list.push_back(displayable(name));
    return list;
  };
  return Json{{"hosts", shown(hosts)},
              {"servers", shown(servers)},
              {"rtt_us", std::move(rtt)},
              {"source", std::move(source)}}
      .dump();
}

std::string history_json(const History& history, std::size_t most) {
  const Samples& samples = history.samples();
  const auto last = samples.end();
  const auto first = last - static_cast<std::ptrdiff_t>(std::min(most, samples.size()));
  Json times = Json::array(), rejected = Json::array(), classes = Json::array(), replicas = Json::array();
  std::vector<std::string> names;
  for (auto sample = first; sample != last; ++sample) {
    times.push_back(in_millis(sample->time));
    rejected.push_back(sample->rejected);
    for (const History::OfClass& one : sample->classes)
      if (std::find(names.begin(), names.end(), one.name) == names.end()) names.push_back(one.name);
  }
  for (const std::string& name : names)
    classes.push_back(class_history(name, first, last));
  for (const auto& [name, all] : history.stays()) {
    Json stays = Json::array();
    for (std::size_t i = all.size() - std::min(most, all.size()); i < all.size(); ++i)
      stays.push_back(stay_json(all[i]));
    replicas.push_back({{"name", displayable(name)}, {"stays", std::move(stays)}});
  }
  return Json{{"step_s", History::kStep.count()}, {"newest", samples.empty() ? 0 : samples.back().number},
              {"times_ms", std::move(times)},     {"rejected", std::move(rejected)},
              {"classes", std::move(classes)},    {"replicas", std::move(replicas)}}
      .dump();
}

std::string views_json(const std::vector<const View*>& views, const Snapshot& snapshot,
                       const ViewContext& context) {
  Json document = Json::object();
  for (const View* view : views)
    document[ascii_lower(view->name)] = rows_json(*view, view->rows(snapshot, context));
  return document.dump();
}

}  // namespace sluice::admin
