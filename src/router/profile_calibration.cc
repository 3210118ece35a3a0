#include "router/profile_calibration.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace sluice::router {
namespace {

constexpr double kUntracedShareMax = 0.1;

profile::Nanos nanos(calibration::Millis ms) {
  return profile::Nanos(std::llround(ms.count() * 1e6));
}

class Applying {
 public:
  Applying(profile::Contents& contents, const calibration::Calibration& calibration, profile::Moment now,
           std::chrono::system_clock::time_point wall_now)
      : contents_(contents), calibration_(calibration), now_(now), wall_now_(wall_now) {}

  void hosts() {
    for (profile::Host& host : contents_.hosts) {
      const calibration::Host* const known = calibration_.find_host(host.name);
      if (known == nullptr) continue;
      if (known->connect) host.connect = nanos(known->connect->median);
      if (!known->health) continue;
      host.path = nanos(known->health->median);
      host.path_samples = known->health->samples;
      host.calibrated_at = moment(known->health->measured_at);
    }
  }

  // Before residuals(): makes the lists as long as they will be.
  void routes() {
    for (std::size_t i = 0; i < contents_.routes.size(); ++i)
      places_.emplace(contents_.routes[i].name, i);
    for (const calibration::Route& route : calibration_.routes) {
      const auto [at, is_new] = places_.emplace(route.name, contents_.routes.size());
      if (is_new) contents_.routes.emplace_back().name = route.name;
      if (route.n_serial) contents_.routes[at->second].n_serial_calibrated = *route.n_serial;
    }
    contents_.residuals.assign(contents_.hosts.size() * contents_.routes.size(), {});
  }

  void residuals() {
    for (const calibration::Route& route : calibration_.routes) {
      const std::size_t r = places_.at(route.name);
      for (const calibration::RouteOnHost& on : route.hosts)
        if (const auto h = find_host(contents_, on.host))
          contents_.residuals[*h * contents_.routes.size() + r] = residual(route, on, contents_.routes[r]);
    }
  }

  void round_trips() {
    const std::size_t width = contents_.servers.size();
    for (std::size_t h = 0; h < contents_.hosts.size(); ++h) {
      const calibration::Host* const known = calibration_.find_host(contents_.hosts[h].name);
      if (known == nullptr || !known->select_1) continue;
      for (std::size_t s = 0; s < width; ++s) {
        profile::Rtt& rtt = contents_.rtt[h * width + s];
        if (rtt.source != profile::Rtt::Source::None) continue;
        rtt = {nanos(known->select_1->median), known->select_1->samples, profile::Rtt::Source::Calibrated,
               moment(known->select_1->measured_at)};
      }
    }
  }

 private:
  profile::Residual residual(const calibration::Route& route, const calibration::RouteOnHost& on,
                             const profile::Route& seen) const {
    std::optional<calibration::Millis> value = on.residual;
    if (seen.requests > 0 && seen.untraced_share <= kUntracedShareMax)
      if (const auto anew = residual_for(calibration_, route, on.host, seen.n_serial_median,
                                         calibration::SqlSource::Matrix))
        value = anew;
    if (!value) return {};
    return {nanos(*value), on.response.samples, moment(on.response.measured_at)};
  }

  // A time that lies ahead (clocks were set) is now.
  profile::Moment moment(calibration::WallTime then) const {
    return now_ - std::max(profile::Nanos(0), std::chrono::duration_cast<profile::Nanos>(wall_now_ - then));
  }

  profile::Contents& contents_;
  std::unordered_map<std::string, std::size_t> places_;  // of routes, by name
  const calibration::Calibration& calibration_;
  const profile::Moment now_;
  const std::chrono::system_clock::time_point wall_now_;
};

}  // namespace

void apply_calibration(profile::Contents& contents, const calibration::Calibration& calibration,
                       profile::Moment now, std::chrono::system_clock::time_point wall_now) {
  Applying applying(contents, calibration, now, wall_now);
  applying.hosts();
  applying.routes();
  applying.residuals();
  applying.round_trips();
}

}  // namespace sluice::router
