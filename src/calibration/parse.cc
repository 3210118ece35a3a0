#include <algorithm>
#include <charconv>
#include <cstdio>
#include <set>

#include "base/nearest.h"
#include "calibration/calibration_file.h"
#include "calibration/wall_time.h"
#include "config/file_text.h"
#include "config/reporter.h"
#include "config/yaml_tree.h"

namespace sluice::calibration {
namespace {

using config::Node;

constexpr double kMillisMax = 3'600'000;  // an hour
constexpr double kNSerialMax = 1'000'000;
constexpr std::size_t kNameBytesMax = 256;

// Reads the keys of one map: what is not asked for in the end is unknown.
class Keys {
 public:
  Keys(const Node& node, std::string path, config::Reporter& reporter)
      : node_(node), path_(std::move(path)), reporter_(reporter) {
    if (node.kind != Node::Kind::Map)
      reporter_.error(path_, std::string(kind_word(node.kind)) + " where a set of keys is expected");
    for (const Node::Entry& entry : node.entries)
      reporter_.remember(key_path(entry.key), entry.position);
  }

  std::string key_path(std::string_view key) const {
    return path_.empty() ? std::string(key) : path_ + "." + std::string(key);
  }

  const Node* find(std::string_view key) {
    asked_.push_back(key);
    const Node* const value = node_.find(key);
    return value == nullptr || value->kind == Node::Kind::Null ? nullptr : value;
  }
  const Node* need(std::string_view key, std::string_view what) {
    const Node* const value = find(key);
    if (value == nullptr && node_.kind == Node::Kind::Map)
      reporter_.error(path_, "lacks " + std::string(key), std::string(key) + " is " + std::string(what));
    return value;
  }

  std::string name(std::string_view key) {
    const Node* const value = need(key, "a name");
    if (value == nullptr) return {};
    if (value->kind == Node::Kind::Scalar && !value->scalar.empty() && value->scalar.size() <= kNameBytesMax)
      return value->scalar;
    reporter_.error(key_path(key), "is not a name of 1 to " + std::to_string(kNameBytesMax) + " bytes");
    return {};
  }

  double number(std::string_view key, double min, double max) {
    const Node* const value = need(key, "a number");
    return value == nullptr ? 0 : number(key, *value, min, max);
  }
  double number(std::string_view key, const Node& value, double min, double max) {
    double parsed = 0;
    const char* const end = value.scalar.data() + value.scalar.size();
    const auto [stopped, code] = std::from_chars(value.scalar.data(), end, parsed);
    const bool good = value.kind == Node::Kind::Scalar && code == std::errc() && stopped == end;
    if (good && parsed >= min && parsed <= max) return parsed;  // never for NaN
    char range[80];
    std::snprintf(range, sizeof range, "%.0f to %.0f", min, max);
    reporter_.error(key_path(key), "\"" + value.scalar.substr(0, 40) + "\" is not a number from " + range);
    return 0;
  }

  void refuse_others() {
    for (const Node::Entry& entry : node_.entries)
      if (std::find(asked_.begin(), asked_.end(), entry.key) == asked_.end())
        reporter_.error(key_path(entry.key), "unknown key", suggestion(entry.key, asked_));
  }

 private:
  const Node& node_;
  std::string path_;
  config::Reporter& reporter_;
  std::vector<std::string_view> asked_;
};

Measurement read_measurement(const Node& node, const std::string& path, config::Reporter& reporter) {
  Keys keys(node, path, reporter);
  Measurement m;
  m.median = Millis(keys.number("median_ms", 0, kMillisMax));
  m.low = Millis(keys.number("low_ms", 0, kMillisMax));
  m.high = Millis(keys.number("high_ms", 0, kMillisMax));
  m.samples = static_cast<std::uint32_t>(keys.number("samples", 1, 1e9));
  if (const Node* const when = keys.need("measured_at", "a time such as 2026-01-31T12:00:00Z")) {
    if (const auto time = parse_wall_time(when->scalar))
      m.measured_at = *time;
    else
      reporter.error(keys.key_path("measured_at"), "is not a time such as 2026-01-31T12:00:00Z");
  }
  keys.refuse_others();
  if (m.low > m.median || m.median > m.high)
    reporter.error(path, "low_ms, median_ms and high_ms are not in order");
  return m;
}

// Calls `read(item, path)` for each item of the list under `key`.
template <class Read>
void read_list(Keys& keys, std::string_view key, std::size_t count_max, config::Reporter& reporter,
               Read read) {
  const Node* const list = keys.find(key);
  if (list == nullptr) return;
  const std::string path = keys.key_path(key);
  if (list->kind != Node::Kind::List) {
    reporter.error(path, std::string(kind_word(list->kind)) + " where a list is expected");
    return;
  }
  if (list->items.size() > count_max) {
    reporter.error(path, "has more than " + std::to_string(count_max) + " items");
    return;
  }
  for (std::size_t i = 0; i < list->items.size() && !reporter.full(); ++i) {
    const std::string item = config::indexed(path, i);
    reporter.remember(item, list->items[i].position);
    read(list->items[i], item);
  }
}

// Reports a name that came before.
void check_unique(std::set<std::string>& seen, const std::string& name, const std::string& path,
                  config::Reporter& reporter) {
  if (!name.empty() && !seen.insert(name).second) reporter.error(path, "\"" + name + "\" stands here twice");
}

Host read_host(const Node& node, const std::string& path, config::Reporter& reporter) {
  Keys keys(node, path, reporter);
  Host host;
  host.name = keys.name("name");
  const auto measurement = [&](std::string_view key, std::optional<Measurement>& into) {
    if (const Node* const value = keys.find(key))
      into = read_measurement(*value, keys.key_path(key), reporter);
  };
  measurement("health", host.health);
  measurement("connect", host.connect);
  measurement("select_1", host.select_1);
  keys.refuse_others();
  return host;
}

RouteOnHost read_route_on_host(const Node& node, const std::string& path, config::Reporter& reporter) {
  Keys keys(node, path, reporter);
  RouteOnHost on_host;
  on_host.host = keys.name("name");
  if (const Node* const response = keys.need("response", "a measurement"))
    on_host.response = read_measurement(*response, keys.key_path("response"), reporter);
  if (const Node* const sql = keys.find("sql_ms"))
    on_host.sql = Millis(keys.number("sql_ms", *sql, 0, kMillisMax));
  if (const Node* const residual = keys.find("residual_ms"))
    on_host.residual = Millis(keys.number("residual_ms", *residual, -kMillisMax, kMillisMax));
  keys.refuse_others();
  return on_host;
}

Route read_route(const Node& node, const std::string& path, config::Reporter& reporter) {
  Keys keys(node, path, reporter);
  Route route;
  route.name = keys.name("name");
  if (const Node* const n = keys.find("n_serial")) {
    route.n_serial = keys.number("n_serial", *n, 0, kNSerialMax);
    const Node* const source = keys.need("n_serial_source", "configured, observed or counted");
    bool known = source == nullptr;
    for (const auto each : {NSerialSource::Configured, NSerialSource::Observed, NSerialSource::Counted}) {
      if (source == nullptr || source->scalar != source_word(each)) continue;
      route.n_serial_source = each;
      known = true;
    }
    if (!known) reporter.error(keys.key_path("n_serial_source"), "is not configured, observed or counted");
  }
  std::set<std::string> seen;
  read_list(keys, "hosts", kHostsMax, reporter, [&](const Node& item, const std::string& item_path) {
    route.hosts.push_back(read_route_on_host(item, item_path, reporter));
    check_unique(seen, route.hosts.back().host, item_path, reporter);
  });
  keys.refuse_others();
  return route;
}

}  // namespace

std::optional<Calibration> parse(const std::string& text, const std::string& file,
                                 config::Problems& problems) {
  const std::size_t before = problems.size();
  const std::optional<Node> root = config::parse_yaml(text, file, problems);
  if (!root || problems.size() > before) return std::nullopt;
  config::Reporter reporter(file, problems);
  Keys keys(*root, "", reporter);
  keys.number("version", 1, 1);
  Calibration calibration;
  std::set<std::string> hosts, routes;
  read_list(keys, "hosts", kHostsMax, reporter, [&](const Node& item, const std::string& path) {
    calibration.hosts.push_back(read_host(item, path, reporter));
    check_unique(hosts, calibration.hosts.back().name, path, reporter);
  });
  read_list(keys, "routes", kRoutesMax, reporter, [&](const Node& item, const std::string& path) {
    calibration.routes.push_back(read_route(item, path, reporter));
    check_unique(routes, calibration.routes.back().name, path, reporter);
  });
  keys.refuse_others();
  if (problems.size() > before) return std::nullopt;
  return calibration;
}

std::optional<Calibration> load(const std::string& path, config::Problems& problems) {
  const config::FileText file = config::read_file(path, config::kFileBytesMax);
  if (!file.text) {
    problems.push_back(
        {path, 0, 0, config::Severity::Error, "", file.problem, "sluice calibrate writes this file"});
    return std::nullopt;
  }
  return parse(*file.text, path, problems);
}

}  // namespace sluice::calibration
