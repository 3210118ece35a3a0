#include <algorithm>
#include <set>

#include "config/file_text.h"
#include "config/placer_config.h"
#include "config/read_record.h"
#include "config/reporter.h"

namespace sluice::config {
namespace {

void read_placer_tree(const Node& root, PlacerConfig& config, Reporter& reporter) {
  read_top<PlacerOptions>(root, config.options, placer_list_keys(), reporter, [&](const Node::Entry& entry) {
    if (entry.key == "compute_hosts")
      return read_list(entry.value, entry.key, config.compute_hosts, reporter), true;
    if (entry.key == "routes") return read_list(entry.value, entry.key, config.routes, reporter), true;
    if (entry.key == "dependencies")
      return read_list(entry.value, entry.key, config.dependencies, reporter), true;
    return false;
  });
}

void complete(PlacerConfig& config) {
  PlacerOptions& options = config.options;
  for (std::string* const path : {&options.tls_cert_file, &options.tls_key_file, &options.profile_path,
                                  &options.calibration_file, &options.access_log, &options.log_file})
    if (*path != "-") *path = path_from(config.path, *path);
  for (PlacerRoute& route : config.routes)
    if (route.profile_route.empty()) route.profile_route = route.pattern;
}

void check_compute_hosts(const PlacerConfig& config, Reporter& reporter) {
  if (config.compute_hosts.empty())
    reporter.error("compute_hosts", "is missing or empty",
                   "compute_hosts: [{name: a, address: 10.0.0.1, port: 3000}]");
  if (config.compute_hosts.size() > kComputeHostsMax)
    reporter.error("compute_hosts", std::to_string(config.compute_hosts.size()) + " hosts are more than " +
                                        std::to_string(kComputeHostsMax));
  std::set<std::string> names;
  for (std::size_t i = 0; i < config.compute_hosts.size(); ++i) {
    const ComputeHost& host = config.compute_hosts[i];
    const std::string key = indexed("compute_hosts", i);
    if (!names.insert(host.name).second) reporter.error(key + ".name", "there are two hosts " + host.name);
    if (host.address.starts_with('/') || host.address.starts_with('@'))
      reporter.error(key + ".address", "is a path: a name or an address is expected");
    if (host.health_path.empty()) continue;
    const bool clean = host.health_path.starts_with('/') &&
                       std::all_of(host.health_path.begin(), host.health_path.end(),
                                   [](unsigned char c) { return c > 0x20 && c < 0x7f && c != '#'; });
    if (!clean)
      reporter.error(key + ".health_path", "is no path such as /health", "percent-encode what is not ASCII");
  }
}

// A pattern's problem, or "".
std::string problem_of_pattern(std::string_view pattern) {
  if (!pattern.starts_with('/')) return "does not begin with /";
  if (pattern.find_first_of("?# ") != pattern.npos) return "holds ?, # or a blank, which no path does";
  while (!pattern.empty()) {
    pattern.remove_prefix(1);
    const std::string_view segment = pattern.substr(0, pattern.find('/'));
    pattern.remove_prefix(segment.size());
    if (segment.empty() && !pattern.empty()) return "has an empty segment";
    if (segment == "." || segment == "..") return "has a segment . or .., which paths never keep";
    if (segment == ":") return "has a : without a name";
    if (segment.find('*') != segment.npos && (segment != "*" || !pattern.empty()))
      return "has a * that is not the whole last segment";
  }
  return "";
}

void check_routes(const PlacerConfig& config, Reporter& reporter) {
  if (config.routes.size() > kPlacerRoutesMax)
    reporter.error("routes", std::to_string(config.routes.size()) + " routes are more than " +
                                 std::to_string(kPlacerRoutesMax));
  std::set<std::pair<std::string, std::string>> seen;
  for (std::size_t i = 0; i < config.routes.size(); ++i) {
    const PlacerRoute& route = config.routes[i];
    const std::string key = indexed("routes", i);
    if (const std::string problem = problem_of_pattern(route.pattern); !problem.empty())
      reporter.error(key + ".pattern", problem, "such as /feed, /articles/:id or /assets/*");
    if (!seen.emplace(route.method, route.pattern).second)
      reporter.error(key + ".pattern", "stands there twice: " + route.pattern);
    if (route.target == Target::Primary && !route.priority_class.empty())
      reporter.warning(key + ".class", "is not used: the target is the primary");
  }
}

void check_dependencies(const PlacerConfig& config, Reporter& reporter) {
  for (std::size_t i = 0; i < config.dependencies.size(); ++i) {
    const Dependency& dependency = config.dependencies[i];
    const std::string key = indexed("dependencies", i);
    const auto has_host = [&](const std::string& name) {
      return std::any_of(config.compute_hosts.begin(), config.compute_hosts.end(),
                         [&](const ComputeHost& host) { return host.name == name; });
    };
    const auto has_rtt = [&](const ComputeHost& host) {
      return std::any_of(dependency.rtt.begin(), dependency.rtt.end(),
                         [&](const auto& entry) { return entry.first == host.name; });
    };
    for (const auto& [name, time] : dependency.rtt)
      if (!has_host(name)) reporter.error(key + ".rtt", "there is no compute host " + name);
    for (const ComputeHost& host : config.compute_hosts)
      if (!has_rtt(host)) reporter.error(key + ".rtt", "lacks the compute host " + host.name);
    for (const auto& [pattern, number] : dependency.n_serial) {
      const bool known = std::any_of(config.routes.begin(), config.routes.end(),
                                     [&p = pattern](const PlacerRoute& route) { return route.pattern == p; });
      if (!known) reporter.error(key + ".n_serial", "there is no route with the pattern " + pattern);
    }
  }
}

void check_options(const PlacerConfig& config, Reporter& reporter) {
  const PlacerOptions& o = config.options;
  if (o.max_header_bytes > o.buffer_size / 4 * 3)
    reporter.error("max_header_bytes", "is more than three quarters of buffer_size, which holds the head");
  if (o.listen_tls_port > 0 && (o.tls_cert_file.empty() || o.tls_key_file.empty()))
    reporter.error(o.tls_cert_file.empty() ? "tls_cert_file" : "tls_key_file",
                   "is missing: listen_tls_port is set");
  if (o.listen_tls_port == 0 && !o.tls_cert_file.empty())
    reporter.warning("tls_cert_file", "is not used: listen_tls_port is 0", "listen_tls_port: 8443");
  if (o.policy != PlacementPolicy::UserFirst && o.profile_path.empty() && o.calibration_file.empty())
    reporter.warning(
        "policy",
        "is " + std::string(word_of(o.policy)) +
            ", but without profile_path and calibration_file nothing is known beyond the way to the hosts",
        "user_first is what will be done");
  if (!o.profile_url.empty() && o.profile_path.empty())
    reporter.error("profile_path", "is missing: profile_url says what to copy there",
                   "profile_path: /dev/shm/sluice.profile");
  for (const std::string& protocol : o.upgrades)
    if (protocol == "h2c") reporter.error("upgrades", "holds h2c, by which requests would pass unseen");
}

}  // namespace

PlacerLoadOutcome load_placer(const std::string& path) {
  const FileText file = read_file(path, kFileBytesMax);
  if (file.text) return load_placer_text(*file.text, path);
  PlacerLoadOutcome outcome;
  outcome.problems.push_back({path, 0, 0, Severity::Error, "", file.problem, ""});
  return outcome;
}

PlacerLoadOutcome load_placer_text(std::string_view yaml, const std::string& path) {
  PlacerLoadOutcome outcome;
  const auto config = std::make_shared<PlacerConfig>();
  config->path = path;
  Reporter reporter(path, outcome.problems);
  if (const std::optional<Node> root = parse_yaml(yaml, path, outcome.problems)) {
    read_placer_tree(*root, *config, reporter);
    complete(*config);
    check_compute_hosts(*config, reporter);
    check_routes(*config, reporter);
    check_dependencies(*config, reporter);
    check_options(*config, reporter);
  }
  sort_problems(outcome.problems, path);
  if (!has_errors(outcome.problems)) outcome.config = config;
  return outcome;
}

bool is_placer_file(const std::string& path) {
  const FileText file = read_file(path, kFileBytesMax);
  if (!file.text) return false;
  Problems ignored;
  const std::optional<Node> root = parse_yaml(*file.text, path, ignored);
  return root && root->find("compute_hosts") != nullptr;
}

std::vector<std::string> placer_needing_restart(const PlacerConfig& from, const PlacerConfig& to) {
  std::vector<std::string> changes;
  for (const Field<PlacerOptions>& field : fields_of<PlacerOptions>()) {
    if (field.apply != Apply::Restart) continue;
    const std::string before = field.print(from.options);
    const std::string after = field.print(to.options);
    if (before != after) changes.push_back(std::string(field.key) + ": " + before + " would become " + after);
  }
  return changes;
}

}  // namespace sluice::config
