#include "sluice/placement/policy.h"

namespace sluice::placement {
namespace {

// The first term without which not even NetworkOnly can score the host.
Missing gap(const RouteInputs& route, const HostInputs& host) noexcept {
  if (!host.path) return Missing::Path;
  if (route.upstream == UpstreamConnection::PerRequest && !host.connect) return Missing::Connect;
  if (*route.n_serial > 0 && !host.sql) return Missing::Sql;
  return Missing::Nothing;
}

std::optional<Millis> client_path(const HostInputs& host) noexcept {
  return host.client ? host.client : host.path;
}

}  // namespace

std::string_view policy_name(Policy policy) noexcept {
  switch (policy) {
    case Policy::UserFirst:
      return "user_first";
    case Policy::NetworkOnly:
      return "network_only";
    case Policy::Profiled:
      return "profiled";
    case Policy::Adaptive:
      return "adaptive";
  }
  return "?";
}

std::string_view missing_name(Missing missing) noexcept {
  switch (missing) {
    case Missing::Nothing:
      return "nothing";
    case Missing::NSerial:
      return "n_serial";
    case Missing::Path:
      return "path";
    case Missing::Connect:
      return "connect";
    case Missing::Sql:
      return "sql";
    case Missing::Residual:
      return "residual";
  }
  return "?";
}

Effective effective_policy(Policy wanted, const RouteInputs& route,
                           std::span<const HostInputs> hosts) noexcept {
  if (wanted == Policy::UserFirst) return {};
  if (!route.n_serial) return {Policy::UserFirst, Missing::NSerial, 0};
  std::optional<std::size_t> without_residual;
  for (std::size_t h = 0; h < hosts.size(); ++h) {
    if (!hosts[h].candidate) continue;
    const Missing missing = gap(route, hosts[h]);
    if (missing != Missing::Nothing) return {Policy::UserFirst, missing, h};
    if (!hosts[h].residual && !without_residual) without_residual = h;
  }
  if (wanted == Policy::NetworkOnly || !without_residual) return {wanted, Missing::Nothing, 0};
  return {wanted == Policy::Profiled ? Policy::NetworkOnly : wanted, Missing::Residual, *without_residual};
}

Terms terms(Policy policy, const RouteInputs& route, const HostInputs& host) noexcept {
  Terms terms;
  if (policy == Policy::UserFirst) {
    terms.path = client_path(host).value_or(Millis{});
    return terms;
  }
  terms.path = host.path.value_or(Millis{});
  if (route.upstream == UpstreamConnection::PerRequest) terms.connect = host.connect.value_or(Millis{});
  terms.database = route.n_serial.value_or(0) * host.sql.value_or(Millis{});
  terms.dependencies = host.dependencies;
  if (policy != Policy::NetworkOnly) terms.residual = host.residual.value_or(Millis{});
  return terms;
}

std::optional<std::size_t> choose(Policy policy, const RouteInputs& route,
                                  std::span<const HostInputs> hosts) noexcept {
  std::optional<std::size_t> best;
  Millis best_score{};
  for (std::size_t h = 0; h < hosts.size(); ++h) {
    if (!hosts[h].candidate) continue;
    const bool unmeasured = policy == Policy::UserFirst && !client_path(hosts[h]);
    const Millis score = unmeasured ? Millis::max() : terms(policy, route, hosts[h]).total();
    if (best && !(score < best_score)) continue;
    best = h;
    best_score = score;
  }
  return best;
}

}  // namespace sluice::placement
