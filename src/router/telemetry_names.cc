#include "router/telemetry_names.h"

#include <algorithm>

#include "router/version.h"

namespace sluice::router {
namespace {

void set_at(std::vector<std::string>& names, std::size_t index, const std::string& name) {
  if (names.size() <= index) names.resize(index + 1);
  names[index] = name;
}

}  // namespace

telemetry::Names TelemetryNames::update(const config::Config& config, const Admission& admission) {
  const policy::Snapshot pools = admission.snapshot();
  for (const policy::ClassSnapshot& c : pools.classes)
    set_at(names_.classes, c.id.value(), c.params.name);
  for (const policy::ReplicaSnapshot& r : pools.replicas)
    set_at(names_.replicas, r.id.value(), r.name);
  const std::vector<policy::BudgetState> budgets = admission.budgets();
  for (std::size_t i = 0; i < budgets.size(); ++i)
    set_at(names_.budgets, i, budgets[i].params.name);
  for (const config::Database& database : config.databases)
    if (std::find(names_.databases.begin(), names_.databases.end(), database.name) == names_.databases.end())
      names_.databases.push_back(database.name);
  for (const config::OriginHost& host : config.hosts)
    if (std::find(names_.hosts.begin(), names_.hosts.end(), host.name) == names_.hosts.end())
      names_.hosts.push_back(host.name);
  if (std::find(names_.hosts.begin(), names_.hosts.end(), kOtherHost) == names_.hosts.end())
    names_.hosts.emplace_back(kOtherHost);
  // One that is found among several is a replica too, by its own name, and another one tomorrow.
  if (!config.options.patroni_urls.empty() || config.primary_candidates.size() > 1) {
    names_.primary = kFoundPrimary;
  } else if (config.primary) {
    names_.primary = config.primary->name;
  }
  names_.version = kVersion;
  return names_;
}

telemetry::DatabaseLabel TelemetryNames::database(std::string_view name) const {
  const auto found = std::find(names_.databases.begin(), names_.databases.end(), name);
  return telemetry::DatabaseLabel(static_cast<std::uint32_t>(found - names_.databases.begin()));
}

telemetry::HostLabel TelemetryNames::host(std::string_view name) const {
  const auto found = std::find(names_.hosts.begin(), names_.hosts.end(), name);
  return telemetry::HostLabel(static_cast<std::uint32_t>(found - names_.hosts.begin()));
}

}  // namespace sluice::router
