#include <algorithm>
#include <map>
#include <string>

#include "base/nearest.h"
#include "config/checks.h"
#include "config/match.h"

namespace sluice::config {
namespace {

template <class R>
std::vector<std::string_view> names_of(const std::vector<R>& records) {
  std::vector<std::string_view> names;
  for (const R& record : records)
    names.push_back(record.name);
  return names;
}

template <class R>
void check_unique_names(const std::vector<R>& records, std::string_view list, Reporter& reporter) {
  std::map<std::string_view, std::size_t> seen;
  for (std::size_t i = 0; i < records.size(); ++i) {
    const auto [first, is_new] = seen.emplace(records[i].name, i);
    if (!is_new && !records[i].name.empty())
      reporter.error(
          indexed(list, i) + ".name",
          "\"" + records[i].name + "\" is the name of " + indexed(list, first->second) + " already",
          "give each its own name");
  }
}

void check_class_reference(const Config& config, const std::string& key, const std::string& name,
                           Reporter& reporter) {
  if (name.empty() || class_index(config, name)) return;
  const std::vector<std::string_view> names = names_of(config.classes);
  reporter.error(key, "there is no class \"" + name + "\"", suggestion(name, names));
}

void check_classes(const Config& config, Reporter& reporter) {
  const auto& classes = config.classes;
  if (classes.empty())
    reporter.error("classes", "no class is listed", "leave the key out for premium and freemium");
  if (classes.size() > policy::kClassCountMax)
    reporter.error("classes", std::to_string(classes.size()) + " classes are more than " +
                                  std::to_string(policy::kClassCountMax));
  check_unique_names(classes, "classes", reporter);
  std::uint64_t target_sum = 0;
  for (std::size_t i = 0; i < classes.size(); ++i) {
    const PriorityClass& each = classes[i];
    const std::string path = indexed("classes", i);
    target_sum += each.target;
    if (each.name == "mixed") reporter.error(path + ".name", "mixed is the pool that belongs to no class");
    if (i == 0 && each.floor != 0)
      reporter.error(path + ".floor",
                     std::to_string(each.floor) + " is not 0: no class is above the first to borrow from it",
                     "the floor protects lower classes");
    if (each.floor > each.target)
      reporter.warning(path + ".floor", "floor " + std::to_string(each.floor) + " is above target " +
                                            std::to_string(each.target) +
                                            ": nobody can ever borrow from this class");
    if (config.options.policy == PolicyName::Plb && each.return_ratio.floor_of(each.saturation) == 0)
      reporter.warning(path + ".return_ratio",
                       each.return_ratio.to_string() + " of saturation " + std::to_string(each.saturation) +
                           " is a watermark of 0: what this class borrows never goes back",
                       "raise return_ratio or saturation");
  }
  if (target_sum > config.replicas.size() && !config.replicas.empty() && !finds_replicas(config))
    reporter.error("classes",
                   "the targets add up to " + std::to_string(target_sum) + ", and there are " +
                       std::to_string(config.replicas.size()) + " replicas",
                   "lower the targets; what they leave over is the pool mixed");
  const bool alike = std::all_of(classes.begin(), classes.end(), [&](const PriorityClass& each) {
    return each.weight == classes.front().weight;
  });
  if (config.options.policy == PolicyName::Proportional && config.options.weight_target.empty() &&
      classes.size() > 1 && alike)
    reporter.warning("classes", "all weigh the same, so that proportional prefers no class",
                     "weight: 2 for the first");
  check_class_reference(config, "default_class", config.options.default_class, reporter);
}

void check_servers(const Config& config, Reporter& reporter) {
  const bool wanted = std::any_of(config.databases.begin(), config.databases.end(),
                                  [](const Database& each) { return each.target == Target::Replicas; });
  if (config.replicas.empty() && !finds_replicas(config) && wanted)
    reporter.error("replicas", "no replica is listed", "replicas: [host:5432, ...]");
  check_unique_names(config.replicas, "replicas", reporter);
  std::map<std::pair<std::string_view, std::uint32_t>, std::size_t> seen;
  for (std::size_t i = 0; i < config.replicas.size(); ++i) {
    const Server& replica = config.replicas[i];
    const std::string path = indexed("replicas", i);
    const auto [first, is_new] = seen.emplace(std::pair(std::string_view(replica.host), replica.port), i);
    if (!is_new && config.replicas[first->second].name != replica.name)
      reporter.warning(path, "is the same server as " + indexed("replicas", first->second),
                       "its sessions are counted as those of two");
    if (config.primary && config.primary->host == replica.host && config.primary->port == replica.port)
      reporter.warning(path, "is the primary too",
                       "sessions for replicas add to the load of the server that takes the writes");
    if (replica.pool != "mixed") check_class_reference(config, path + ".pool", replica.pool, reporter);
    if (config.primary && config.primary->name == replica.name && config.primary->host != replica.host)
      reporter.error(path + ".name", "\"" + replica.name + "\" is the name of the primary already");
  }
}

bool is_unconditional(const ClassRule& rule) {
  return rule.user.empty() && rule.database.empty() && rule.application_name.empty() &&
         rule.network.empty() && rule.listener.empty() && rule.certificate_name.empty() && rule.role.empty();
}

void check_rules(const Config& config, Reporter& reporter) {
  const std::vector<std::string_view> listeners = names_of(config.listeners);
  for (std::size_t i = 0; i < config.rules.size(); ++i) {
    const ClassRule& rule = config.rules[i];
    const std::string path = indexed("rules", i);
    check_class_reference(config, path + ".class", rule.class_name, reporter);
    for (const std::string& name : rule.listener)
      if (std::find(listeners.begin(), listeners.end(), name) == listeners.end())
        reporter.error(path + ".listener", "there is no listener \"" + name + "\"",
                       suggestion(name, listeners));
    if (!rule.role.empty() && config.options.auth_user.empty())
      reporter.error(path + ".role", "roles are looked up as auth_user, which is not set");
    if (!rule.certificate_name.empty() && config.options.client_tls_ca_file.empty())
      reporter.error(path + ".certificate_name",
                     "client certificates are not verified without client_tls_ca_file");
    if (is_unconditional(rule) && i + 1 < config.rules.size())
      reporter.warning(indexed("rules", i + 1), "is never reached: " + path + " matches every session");
  }
}

}  // namespace

bool slots_limited(const Config& config) {
  if (config.options.max_active > 0) return true;
  const auto limited = [](const Server& s) { return s.max_active > 0; };
  if (has_primary(config) && !(config.primary && limited(*config.primary))) return false;
  return std::all_of(config.replicas.begin(), config.replicas.end(), limited);
}

namespace {

void check_budgets(const Config& config, Reporter& reporter) {
  check_unique_names(config.budgets, "budgets", reporter);
  for (std::size_t i = 0; i < config.budgets.size(); ++i) {
    const Budget& budget = config.budgets[i];
    const std::string path = indexed("budgets", i);
    for (const std::string& name : budget.class_names)
      check_class_reference(config, path + ".class", name, reporter);
    if (budget.mode != BudgetMode::Off && budget.active_share == Ratio() && budget.busy_share == Ratio())
      reporter.warning(path, "limits nothing", "give active_share or busy_share");
    const bool everything = budget.class_names.empty() && budget.user.empty() && budget.database.empty() &&
                            budget.application_name.empty() && budget.route.empty();
    if (everything && i + 1 < config.budgets.size())
      reporter.warning(indexed("budgets", i + 1), "is never reached: " + path + " matches everything");
  }
  if (!config.budgets.empty() && !slots_limited(config))
    reporter.warning("budgets", "are shares of the slots, which have no limit here", "set max_active");
}

void check_databases(const Config& config, Reporter& reporter) {
  check_unique_names(config.databases, "databases", reporter);
  if (config.databases.empty())
    reporter.error("databases", "no database is listed", "leave the key out to allow any");
  for (std::size_t i = 0; i < config.databases.size(); ++i) {
    const Database& database = config.databases[i];
    const std::string path = indexed("databases", i);
    if (database.target == Target::Primary && !has_primary(config))
      reporter.error(path + ".target", "there is no primary", "primary: host:5432");
    if (database.name == "sluice" || database.name == "pgbouncer")
      reporter.error(path + ".name", "\"" + database.name + "\" is the admin console");
  }
}

void check_origin_hosts(const Config& config, Reporter& reporter) {
  check_unique_names(config.hosts, "hosts", reporter);
  const bool trusts_option =
      !config.options.trust_host_option_users.empty() || !config.options.trust_host_option_networks.empty();
  for (std::size_t i = 0; i < config.hosts.size(); ++i)
    if (config.hosts[i].networks.empty() && !trusts_option)
      reporter.warning(indexed("hosts", i),
                       "no session can be found to come from \"" + config.hosts[i].name + "\"",
                       "give networks, or trust_host_option_users");
}

}  // namespace

void check_pools(const Config& config, Reporter& reporter) {
  check_unique_names(config.listeners, "listeners", reporter);
  if (config.listeners.empty())
    reporter.error(reporter.given("listeners") ? "listeners" : "listen_addr", "no address to listen on");
  check_classes(config, reporter);
  check_servers(config, reporter);
  check_rules(config, reporter);
  check_budgets(config, reporter);
  check_databases(config, reporter);
  check_origin_hosts(config, reporter);
}

}  // namespace sluice::config
