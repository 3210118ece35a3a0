#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "sluice/placement/cost.h"

namespace sluice::placement {

enum class Policy : std::uint8_t {
  UserFirst,    // the least client path, whatever the route does behind it
  NetworkOnly,  // path and database round trips, residual 0
  Profiled,     // with the residual of the calibration
  Adaptive,     // Profiled corrected by measured response times: adaptive.h
};
inline constexpr std::array kPolicies = {Policy::UserFirst, Policy::NetworkOnly, Policy::Profiled,
                                         Policy::Adaptive};
std::string_view policy_name(Policy) noexcept;  // "user_first", "network_only", "profiled", "adaptive"

// Why a policy cannot be followed: the first term it needs that is missing.
enum class Missing : std::uint8_t { Nothing, NSerial, Path, Connect, Sql, Residual };
inline constexpr std::array kMissing = {Missing::Nothing, Missing::NSerial, Missing::Path,
                                        Missing::Connect, Missing::Sql,     Missing::Residual};
std::string_view missing_name(
    Missing) noexcept;  // "nothing", "n_serial", "path", "connect", "sql", "residual"

// What the wanted policy comes down to with what is known.
struct Effective {
  Policy policy = Policy::UserFirst;
  Missing missing = Missing::Nothing;  // the first gap met on the way down, Nothing when none was
  std::size_t host = 0;                // where the gap is; meaningless for Nothing and NSerial

  friend bool operator==(const Effective&, const Effective&) = default;
};

// Profiled and Adaptive need every term of every candidate; without residuals they come down to NetworkOnly;
// without the route's N_serial, a path or a round trip to the database that comes down to UserFirst. Adaptive
// stays Adaptive, with NetworkOnly's terms for its prior, where only residuals are missing. UserFirst can
// always be followed.
Effective effective_policy(Policy wanted, const RouteInputs&, std::span<const HostInputs> hosts) noexcept;

// The terms of one host's score under a policy. UserFirst: the client path alone, for which the health page's
// path stands in when no connect has been measured. Adaptive: as Profiled, without a correction. Terms that
// are not known are 0, which only effective_policy() makes safe: ask it first.
Terms terms(Policy, const RouteInputs&, const HostInputs&) noexcept;

// The candidate with the least score; the earlier one on a tie; nullopt without a candidate. Under UserFirst
// a host without any measurement comes behind all others. Deterministic; O(hosts), no allocation.
std::optional<std::size_t> choose(Policy, const RouteInputs&, std::span<const HostInputs> hosts) noexcept;

}  // namespace sluice::placement
