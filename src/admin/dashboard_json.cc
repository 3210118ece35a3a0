#include "admin/dashboard_json.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>
#include <utility>
#include <variant>

#include "admin/json_text.h"
#include "admin/text.h"
#include "base/text.h"

namespace sluice::admin {
namespace {

std::optional<std::int64_t> in_micros(std::optional<Micros> time) {
  return time ? std::optional<std::int64_t>(time->count()) : std::nullopt;
}
std::optional<std::int64_t> in_millis(std::optional<std::chrono::milliseconds> time) {
  return time ? std::optional<std::int64_t>(time->count()) : std::nullopt;
}
std::int64_t in_millis(WallTime time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
}

void add_counts(JsonText& json, const ClassCounts& counts) {
  json.begin_object();
  for (const auto& [name, count] : counts)
    json.member(displayable(name), count);
  json.end_object();
}

void add_recent(JsonText& json, const RecentTimes& recent) {
  json.begin_object()
      .member("count", recent.count)
      .member("median_us", in_micros(recent.times.median))
      .member("p95_us", in_micros(recent.times.p95))
      .member("p99_us", in_micros(recent.times.p99))
      .end_object();
}

void add_class(JsonText& json, const ClassRow& row) {
  json.begin_object()
      .member("name", displayable(row.name))
      .member("priority", row.priority)
      .member("saturation", row.saturation)
      .member("return_ratio", row.return_ratio)
      .member("floor", row.floor)
      .member("target", row.target)
      .member("max_sessions", row.max_sessions)
      .member("replicas", row.replicas)
      .member("borrowed", row.borrowed)
      .member("sessions", row.sessions)
      .member("waiting", row.waiting)
      .member("longest_wait_us", std::int64_t{row.longest_wait.count()})
      .member("opened", row.opened);
  add_counts(json.key("outcomes"), row.outcomes);
  add_recent(json.key("response"), row.recent_response);
  add_recent(json.key("wait"), row.recent_wait);
  json.end_object();
}

void add_replica(JsonText& json, const ReplicaRow& row) {
  json.begin_object()
      .member("name", displayable(row.name))
      .member("role", row.role)
      .member("host", displayable(row.host))
      .member("port", row.port)
      .member("pool", displayable(row.pool))
      .member("borrowed", row.borrowed)
      .member("up", row.up)
      .member("draining", row.draining)
      .member("sessions", row.sessions);
  add_counts(json.key("loads"), row.loads);
  json.member("in_recovery", row.in_recovery)
      .member("lag_ms", in_millis(row.lag))
      .member("lag_bytes", row.lag_bytes)
      .member("probe_last_us", in_micros(row.probe_last))
      .member("probe_median_us", in_micros(row.probe_median))
      .member("probe_failures", row.probe_failures)
      .member("checked_ms_ago", in_millis(row.age))
      .member("last_error", displayable(row.last_error))
      .member("weight", row.weight)
      .member("timeline", row.timeline)
      .member("source", row.source)
      .end_object();
}

struct AddCell {
  JsonText& json;
  void operator()(std::monostate) const { json.null(); }
  void operator()(std::int64_t value) const { json.value(value); }
  void operator()(bool value) const { json.value(value); }
  void operator()(const std::string& value) const { json.value(displayable(value)); }
  void operator()(const ClassCounts& counts) const { add_counts(json, counts); }
  void operator()(const FieldsList& list) const {
    json.begin_array();
    for (const Fields& fields : list) {
      json.begin_object();
      for (const auto& [name, value] : fields)
        json.member(name, displayable(value));
      json.end_object();
    }
    json.end_array();
  }
};

void add_rows(JsonText& json, const View& view, const std::vector<Row>& rows) {
  json.begin_array();
  for (const Row& row : rows) {
    json.begin_object();
    for (std::size_t i = 0; i < row.size(); ++i)
      std::visit(AddCell{json.key(view.columns[i].name)}, row[i]);
    json.end_object();
  }
  json.end_array();
}

// One column per thing that is told of a class; null where there was no such class.
struct ClassColumn {
  const char* name;
  std::optional<std::int64_t> (*get)(const History::OfClass&);
};
constexpr std::array<ClassColumn, 8> kClassColumns{{
    {"sessions", [](const History::OfClass& c) { return std::optional(c.sessions); }},
    {"waiting", [](const History::OfClass& c) { return std::optional(c.waiting); }},
    {"replicas", [](const History::OfClass& c) { return std::optional(c.replicas); }},
    {"opened", [](const History::OfClass& c) { return std::optional(c.opened); }},
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

void add_class_history(JsonText& json, const std::string& name, Samples::const_iterator first,
                       Samples::const_iterator last) {
  json.begin_object().member("name", displayable(name));
  for (const ClassColumn& column : kClassColumns) {
    json.key(column.name).begin_array();
    for (auto sample = first; sample != last; ++sample) {
      const History::OfClass* const one = find_class(*sample, name);
      json.value(one == nullptr ? std::nullopt : column.get(*one));
    }
    json.end_array();
  }
  json.end_object();
}

void add_stay(JsonText& json, const History::Stay& stay) {
  json.begin_object()
      .member("since_ms", in_millis(stay.since))
      .member("pool", displayable(stay.pool))
      .member("borrowed", stay.borrowed)
      .member("live", stay.live)
      .end_object();
}

void add_warning(JsonText& json, const WarningRow& row) {
  json.begin_object()
      .member("file", displayable(row.file))
      .member("line", row.line)
      .member("key", displayable(row.key))
      .member("message", displayable(row.message))
      .member("hint", displayable(row.hint))
      .end_object();
}

// The names of a matrix in the order in which they came, and where each is.
class Axis {
 public:
  std::size_t place(const std::string& name) {
    const auto [found, is_new] = places_.try_emplace(name, names_.size());
    if (is_new) names_.push_back(name);
    return found->second;
  }
  std::size_t size() const noexcept { return names_.size(); }
  void add_to(JsonText& json) const {
    json.begin_array();
    for (const std::string& name : names_)
      json.value(displayable(name));
    json.end_array();
  }

 private:
  std::vector<std::string> names_;
  std::unordered_map<std::string, std::size_t> places_;
};

}  // namespace

std::string overview_json(const Snapshot& overview, std::string_view version, Commands commands) {
  const StateRow& state = overview.state;
  JsonText json;
  json.begin_object()
      .member("version", version)
      .member("started_ms", in_millis(state.started))
      .member("config_loaded_ms", in_millis(state.config_loaded))
      .member("ready", state.ready)
      .member("reason", displayable(state.reason))
      .member("shutting_down", state.shutting_down)
      .member("paused", state.paused)
      .member("commands", commands == Commands::WithToken);
  json.key("classes").begin_array();
  for (const ClassRow& row : overview.classes)
    add_class(json, row);
  json.end_array().key("replicas").begin_array();
  for (const ReplicaRow& row : overview.replicas)
    add_replica(json, row);
  json.end_array().key("rejections").begin_object();
  for (const RejectionRow& row : overview.rejections)
    if (row.count > 0) json.member(row.reason, row.count);
  json.end_object().key("warnings").begin_array();
  for (const WarningRow& row : overview.warnings)
    add_warning(json, row);
  return json.end_array().end_object().take();
}

std::string rtt_matrix_json(const std::vector<RttRow>& rows) {
  Axis hosts, servers;
  std::vector<std::pair<std::size_t, std::size_t>> places;  // of each row
  for (const RttRow& row : rows) {
    const std::size_t host = hosts.place(row.host);
    places.emplace_back(host, servers.place(row.server));
  }
  std::vector<const RttRow*> cells(hosts.size() * servers.size(), nullptr);
  for (std::size_t i = 0; i < rows.size(); ++i)
    cells[places[i].first * servers.size() + places[i].second] = &rows[i];
  JsonText json;
  hosts.add_to(json.begin_object().key("hosts"));
  servers.add_to(json.key("servers"));
  const auto matrix = [&](const char* name, const auto& add) {
    json.key(name).begin_array();
    for (std::size_t h = 0; h < hosts.size(); ++h) {
      json.begin_array();
      for (std::size_t s = 0; s < servers.size(); ++s)
        add(cells[h * servers.size() + s]);
      json.end_array();
    }
    json.end_array();
  };
  matrix("rtt_us",
         [&](const RttRow* cell) { json.value(cell == nullptr ? std::nullopt : in_micros(cell->rtt)); });
  matrix("source", [&](const RttRow* cell) { json.value(cell == nullptr ? "" : cell->source); });
  return json.end_object().take();
}

std::string history_json(const History& history, std::size_t most) {
  const Samples& samples = history.samples();
  const auto last = samples.end();
  const auto first = last - static_cast<std::ptrdiff_t>(std::min(most, samples.size()));
  const std::uint64_t newest = samples.empty() ? 0 : samples.back().number;
  JsonText json;
  json.begin_object()
      .member("step_s", std::int64_t{History::kStep.count()})
      .member("newest", static_cast<std::int64_t>(newest));
  json.key("times_ms").begin_array();
  for (auto sample = first; sample != last; ++sample)
    json.value(in_millis(sample->time));
  json.end_array().key("rejected").begin_array();
  std::vector<std::string> names;
  for (auto sample = first; sample != last; ++sample) {
    json.value(sample->rejected);
    for (const History::OfClass& one : sample->classes)
      if (std::find(names.begin(), names.end(), one.name) == names.end()) names.push_back(one.name);
  }
  json.end_array().key("classes").begin_array();
  for (const std::string& name : names)
    add_class_history(json, name, first, last);
  json.end_array().key("replicas").begin_array();
  for (const auto& [name, all] : history.stays()) {
    json.begin_object().member("name", displayable(name)).key("stays").begin_array();
    for (std::size_t i = all.size() - std::min(most, all.size()); i < all.size(); ++i)
      add_stay(json, all[i]);
    json.end_array().end_object();
  }
  return json.end_array().end_object().take();
}

std::string views_json(const std::vector<const View*>& views, const Snapshot& snapshot,
                       const ViewContext& context) {
  JsonText json;
  json.begin_object();
  for (const View* view : views)
    add_rows(json.key(ascii_lower(view->name)), *view, view->rows(snapshot, context));
  return json.end_object().take();
}

}  // namespace sluice::admin
