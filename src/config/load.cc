#include <algorithm>

#include "config/checks.h"
#include "config/complete.h"
#include "config/config.h"
#include "config/file_text.h"
#include "config/read_tree.h"
#include "config/reporter.h"
#include "config/yaml_tree.h"

namespace sluice::config {

LoadOutcome load(const std::string& path) {
  const FileText file = read_file(path, kFileBytesMax);
  if (file.text) return load_text(*file.text, path);
  LoadOutcome outcome;
  outcome.problems.push_back({path, 0, 0, Severity::Error, "", file.problem, ""});
  return outcome;
}

void check_all(const Config& config, Reporter& reporter) {
  check_pools(config, reporter);
  check_authentication(config, reporter);
  check_tls(config, reporter);
  check_limits(config, reporter);
  check_measuring(config, reporter);
  check_cluster(config, reporter);
  // The policy core judges for itself what it is given; what it refuses and we did not would end the router.
  const std::optional<std::string> refused = policy::problem_of(pool_config(config));
  if (refused && !has_errors(reporter.problems())) reporter.error("classes", *refused);
}

LoadOutcome load_text(std::string_view yaml, const std::string& path) {
  LoadOutcome outcome;
  const auto config = std::make_shared<Config>();
  config->path = path;
  Reporter reporter(path, outcome.problems);
  if (const std::optional<Node> root = parse_yaml(yaml, path, outcome.problems)) {
    read_tree(*root, *config, reporter);
    complete(*config, reporter);
    read_secret_files(*config, reporter);
    check_all(*config, reporter);
  }
  sort_problems(outcome.problems, path);
  if (has_errors(outcome.problems)) return outcome;
  config->warnings = outcome.problems;
  outcome.config = config;
  return outcome;
}

bool finds_replicas(const Config& config) {
  return !config.options.patroni_urls.empty() ||
         std::any_of(config.replicas.begin(), config.replicas.end(),
                     [](const Server& replica) { return replica.discover != Discover::Off; });
}

bool has_primary(const Config& config) {
  return config.primary || !config.primary_candidates.empty() || !config.options.patroni_urls.empty();
}

bool learns_sizes(const Config& config) {
  const Options& o = config.options;
  return o.size_learning == SizeLearning::On || o.queue_discipline == QueueDiscipline::ShortestFirst ||
         policy::is_by_size(o.order_within_pool);
}

policy::PoolConfig pool_config(const Config& config) {
  policy::PoolConfig pools;
  pools.policy = config.options.policy;
  pools.order = config.options.order_within_pool;
  pools.nearest_slack = config.options.nearest_slack;
  for (const PriorityClass& each : config.classes)
    pools.classes.push_back(
        {each.name, each.saturation, each.return_ratio, each.floor, each.target, each.weight});
  for (const Server& replica : config.replicas)
    pools.replicas.push_back(
        {replica.name, replica.pool.empty() ? std::nullopt : std::optional<std::string>(replica.pool),
         replica.weight, replica.max_active > 0 ? replica.max_active : config.options.max_active});
  return pools;
}

const UserEntry* find_user(const Config& config, std::string_view name) {
  const auto user =
      std::lower_bound(config.users.begin(), config.users.end(), name,
                       [](const UserEntry& entry, std::string_view n) { return entry.name < n; });
  return user == config.users.end() || user->name != name ? nullptr : &*user;
}

}  // namespace sluice::config
