#include "sluice/policy/pool_config.h"

#include <array>
#include <unordered_set>
#include <utility>

namespace sluice::policy {
namespace {

constexpr std::array<std::pair<PolicyKind, std::string_view>, 6> kPolicyNames = {{
    {PolicyKind::Plb, "plb"},
    {PolicyKind::RoundRobin, "round_robin"},
    {PolicyKind::LeastLoaded, "least_loaded"},
    {PolicyKind::Dedicated, "dedicated"},
    {PolicyKind::RandomTwoChoices, "random_two_choices"},
    {PolicyKind::Proportional, "proportional"},
}};

constexpr std::array<std::pair<ReplicaOrder, std::string_view>, 4> kOrderNames = {{
    {ReplicaOrder::LeastLoaded, "least_loaded"},
    {ReplicaOrder::Nearest, "nearest"},
    {ReplicaOrder::SitaE, "sita_e"},
    {ReplicaOrder::SitaV, "sita_v"},
}};

std::string outside(std::string_view what, std::int64_t value, std::int64_t min) {
  return std::string(what) + ' ' + std::to_string(value) + " is not in " + std::to_string(min) + ".." +
         std::to_string(kParameterMax);
}

std::optional<std::string> problem_of(const ClassParams& c) {
  const std::string whose = "class '" + c.name + "': ";
  if (c.saturation < 1 || c.saturation > kParameterMax) return whose + outside("saturation", c.saturation, 1);
  if (c.floor < 0 || c.floor > kParameterMax) return whose + outside("floor", c.floor, 0);
  if (c.target < 0 || c.target > kParameterMax) return whose + outside("target", c.target, 0);
  return std::nullopt;
}

std::optional<std::string> problem_of_counts(const PoolConfig& config) {
  if (config.classes.empty()) return "there is no class";
  if (config.classes.size() > kClassCountMax)
    return "there are more than " + std::to_string(kClassCountMax) + " classes";
  if (config.replicas.size() > kReplicaCountMax)
    return "there are more than " + std::to_string(kReplicaCountMax) + " replicas";
  return std::nullopt;
}

}  // namespace

std::string_view policy_name(PolicyKind kind) noexcept {
  for (const auto& [k, name] : kPolicyNames)
    if (k == kind) return name;
  return "unknown";
}

std::optional<PolicyKind> parse_policy(std::string_view name) noexcept {
  for (const auto& [kind, n] : kPolicyNames)
    if (n == name) return kind;
  return std::nullopt;
}

std::string_view order_name(ReplicaOrder order) noexcept {
  for (const auto& [o, name] : kOrderNames)
    if (o == order) return name;
  return "unknown";
}

std::optional<ReplicaOrder> parse_order(std::string_view name) noexcept {
  for (const auto& [order, n] : kOrderNames)
    if (n == name) return order;
  return std::nullopt;
}

std::optional<std::string> problem_of(const PoolConfig& config) {
  if (auto problem = problem_of_counts(config)) return problem;
  if (config.nearest_slack < 0 || config.nearest_slack > kParameterMax)
    return outside("nearest_slack", config.nearest_slack, 0);
  std::unordered_set<std::string_view> pools = {"mixed"};
  for (const ClassParams& c : config.classes) {
    if (c.name.empty()) return "a class has no name";
    if (c.name == "mixed") return "a class is called 'mixed', which is the name of the shared pool";
    if (!pools.insert(c.name).second) return "class '" + c.name + "' is there twice";
    if (auto problem = problem_of(c)) return problem;
  }
  if (const ClassParams& highest = config.classes.front(); highest.floor != 0)
    return "class '" + highest.name + "': floor must be 0, as no class is above it to borrow from it";
  std::unordered_set<std::string_view> replicas;
  for (const ReplicaConfig& r : config.replicas) {
    if (r.name.empty()) return "a replica has no name";
    if (r.weight < 1 || r.weight > kWeightMax)
      return "replica '" + r.name + "': weight " + std::to_string(r.weight) + " is not in 1.." +
             std::to_string(kWeightMax);
    if (!replicas.insert(r.name).second) return "replica '" + r.name + "' is there twice";
    if (r.max_active < 0 || r.max_active > kParameterMax)
      return "replica '" + r.name + "': " + outside("max_active", r.max_active, 0);
    if (r.pool && !pools.contains(*r.pool))
      return "replica '" + r.name + "': pool '" + *r.pool + "' is neither a class nor 'mixed'";
  }
  return std::nullopt;
}

}  // namespace sluice::policy
