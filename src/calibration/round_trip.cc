#include "calibration/round_trip.h"

#include <vector>

namespace sluice::calibration {

std::optional<placement::Millis> sql_by_profile(const profile::Contents& contents, std::string_view host,
                                                config::Target target, std::string_view priority_class,
                                                profile::Moment now, std::chrono::nanoseconds age_max) {
  const auto row = profile::find_host(contents, host);
  if (!row) return std::nullopt;
  const auto class_row = profile::find_class(contents, priority_class);
  const std::size_t servers = contents.servers.size();
  std::vector<std::optional<placement::Millis>> times;
  std::vector<double> shares;
  for (std::size_t server = 0; server < servers; ++server) {
    const bool is_primary = contents.servers[server].role == profile::ServerRole::Primary;
    if (is_primary != (target == config::Target::Primary) || !contents.servers[server].up) continue;
    const profile::Rtt& rtt = contents.rtt[*row * servers + server];
    const bool known =
        rtt.source != profile::Rtt::Source::None && rtt.samples > 0 && now - rtt.measured_at <= age_max;
    times.push_back(known ? std::optional<placement::Millis>(rtt.estimate) : std::nullopt);
    shares.push_back(class_row ? contents.shares[*class_row * servers + server] : 0);
  }
  return placement::share_weighted(times, shares);
}

}  // namespace sluice::calibration
