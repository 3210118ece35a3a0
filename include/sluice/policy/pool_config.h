#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/ratio.h"
#include "sluice/weight.h"

namespace sluice::policy {

// One priority class. Symbols of "PLB: Priority-Aware Load Balancing for Replicated Databases under
// Constrained Resources" (Djeffal, Bourhis, Rouvoy, 2026).
struct ClassParams {
  std::string name;
  std::int64_t saturation = 10;  // theta_c, sessions of the class per replica; equality is saturated
  Ratio return_ratio;       // alpha_c; a borrowed replica goes back below floor(alpha_c * theta_c) sessions
  std::int64_t floor = 0;   // kappa_c, live replicas the class keeps when a higher class borrows
  std::int64_t target = 0;  // K_c, size its pool starts with and is refilled to
  Weight weight = {};       // w_c of PolicyKind::Proportional

  std::int64_t watermark() const noexcept { return return_ratio.floor_of(saturation); }  // tau_c
};

struct ReplicaConfig {
  std::string name;
  std::optional<std::string> pool;  // initial pool: a class name or "mixed"; else by the targets
  std::int64_t weight = 1;      // 1..kWeightMax: sessions it takes for each one of a replica with weight 1
  std::int64_t max_active = 0;  // sessions, or transactions in progress, at a time; 0: no limit
};

enum class PolicyKind { Plb, RoundRobin, LeastLoaded, Dedicated, RandomTwoChoices, Proportional };
std::string_view policy_name(PolicyKind) noexcept;  // "plb", "round_robin", ...
std::optional<PolicyKind> parse_policy(std::string_view name) noexcept;

// Which of the replicas that a policy finds equally suitable a session gets.
enum class ReplicaOrder {
  LeastLoaded,  // the least load
  Nearest,      // the shortest round trip from the session's host, among those near the least load
  SitaE,        // the one whose interval of sizes the session's falls into: intervals of equal work
  SitaV,        // the same, intervals for the least mean slowdown
};
inline bool is_by_size(ReplicaOrder order) noexcept {
  return order == ReplicaOrder::SitaE || order == ReplicaOrder::SitaV;
}
std::string_view order_name(ReplicaOrder) noexcept;  // "least_loaded", "nearest", "sita_e", "sita_v"
std::optional<ReplicaOrder> parse_order(std::string_view name) noexcept;

struct PoolConfig {
  PolicyKind policy = PolicyKind::Plb;
  std::vector<ClassParams> classes;     // highest priority first
  std::vector<ReplicaConfig> replicas;  // ties go to the earlier
  std::uint64_t seed = 1;               // drives the random policies
  ReplicaOrder order = ReplicaOrder::LeastLoaded;
  std::int64_t nearest_slack = 2;  // sessions above the least load that a nearer replica may have
};

inline constexpr std::size_t kClassCountMax = 64;
inline constexpr std::size_t kReplicaCountMax = 65'536;
inline constexpr std::int64_t kWeightMax = 1'000;
inline constexpr std::int64_t kParameterMax =
    1'000'000'000;  // of saturation, floor, target, slack, max_active

// Why a configuration cannot be used, as a sentence without a full stop that names the class or replica;
// nullopt if it can: 1..kClassCountMax classes and at most kReplicaCountMax replicas, names unique and not
// empty, no class called "mixed", numbers in range, the highest class's floor 0, every initial pool a class
// or "mixed".
std::optional<std::string> problem_of(const PoolConfig&);

}  // namespace sluice::policy
