#include "profile/records.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace sluice::profile {
namespace {

// 73 years: more than any uptime, and far from where a difference would overflow.
constexpr std::int64_t kTimeMax = std::int64_t{1} << 61;

std::int64_t bounded(std::int64_t nanoseconds) noexcept {
  return std::clamp(nanoseconds, -kTimeMax, kTimeMax);
}

void put_name(char (&room)[SLUICE_PROFILE_NAME_SIZE], std::string_view name) noexcept {
  name = name.substr(0, name.find('\0'));
  std::size_t length = std::min<std::size_t>(name.size(), sizeof room - 1);
  if (length < name.size())  // not within a character: its further bytes are 10xxxxxx
    while (length > 0 && (static_cast<unsigned char>(name[length]) & 0xC0) == 0x80)
      --length;
  std::memset(room, 0, sizeof room);
  std::memcpy(room, name.data(), length);
}

std::string take_name(const char (&room)[SLUICE_PROFILE_NAME_SIZE]) {
  return {room, ::strnlen(room, sizeof room)};
}

}  // namespace

Moment moment_of(std::int64_t nanoseconds) noexcept {
  return Moment(Nanos(bounded(nanoseconds)));
}
Nanos nanos_of(std::int64_t nanoseconds) noexcept {
  return Nanos(bounded(nanoseconds));
}
std::int64_t to_nanos(Moment moment) noexcept {
  return std::chrono::duration_cast<Nanos>(moment.time_since_epoch()).count();
}
double finite(double value) noexcept {
  return std::isfinite(value) ? value : 0;
}

sluice_profile_host to_record(const Host& h) noexcept {
  sluice_profile_host r{};
  put_name(r.name, h.name);
  r.client_leg = h.client_leg.count();
  r.client_leg_minimum = h.client_leg_min.count();
  r.client_leg_deviation = h.client_leg_deviation.count();
  r.client_leg_samples = h.samples;
  r.measured_at = to_nanos(h.measured_at);
  r.sessions = h.sessions;
  r.path = h.path.count();
  r.connect = h.connect.count();
  r.path_samples = h.path_samples;
  r.calibrated_at = to_nanos(h.calibrated_at);
  return r;
}

Host from_record(const sluice_profile_host& r) {
  Host h;
  h.name = take_name(r.name);
  h.client_leg = nanos_of(r.client_leg);
  h.client_leg_min = nanos_of(r.client_leg_minimum);
  h.client_leg_deviation = nanos_of(r.client_leg_deviation);
  h.samples = r.client_leg_samples;
  h.measured_at = moment_of(r.measured_at);
  h.sessions = static_cast<std::uint32_t>(std::min<std::uint64_t>(r.sessions, UINT32_MAX));
  h.path = nanos_of(r.path);
  h.connect = nanos_of(r.connect);
  h.path_samples = static_cast<std::uint32_t>(std::min<std::uint64_t>(r.path_samples, UINT32_MAX));
  h.calibrated_at = moment_of(r.calibrated_at);
  return h;
}

sluice_profile_server to_record(const Server& s) noexcept {
  sluice_profile_server r{};
  put_name(r.name, s.name);
  r.role = s.role == ServerRole::Primary ? SLUICE_PROFILE_PRIMARY : SLUICE_PROFILE_REPLICA;
  r.up = s.up ? 1 : 0;
  r.median = s.median.count();
  r.minimum = s.minimum.count();
  r.ewma = s.ewma.count();
  r.samples = s.samples;
  r.measured_at = to_nanos(s.measured_at);
  return r;
}

Server from_record(const sluice_profile_server& r) {
  Server s;
  s.name = take_name(r.name);
  s.role = r.role == SLUICE_PROFILE_PRIMARY ? ServerRole::Primary : ServerRole::Replica;
  s.up = r.up != 0;
  s.median = nanos_of(r.median);
  s.minimum = nanos_of(r.minimum);
  s.ewma = nanos_of(r.ewma);
  s.samples = r.samples;
  s.measured_at = moment_of(r.measured_at);
  return s;
}

sluice_profile_rtt to_record(const Rtt& rtt) noexcept {
  sluice_profile_rtt r{};
  r.estimate = rtt.estimate.count();
  r.samples = rtt.samples;
  r.source = static_cast<std::uint64_t>(rtt.source);
  r.measured_at = to_nanos(rtt.measured_at);
  return r;
}

Rtt from_record(const sluice_profile_rtt& r) {
  Rtt rtt;
  rtt.estimate = nanos_of(r.estimate);
  rtt.samples = r.samples;
  rtt.source = r.source <= SLUICE_PROFILE_CALIBRATED ? static_cast<Rtt::Source>(r.source) : Rtt::Source::None;
  rtt.measured_at = moment_of(r.measured_at);
  return rtt;
}

sluice_profile_class to_record(const std::string& class_name) noexcept {
  sluice_profile_class r{};
  put_name(r.name, class_name);
  return r;
}

std::string from_record(const sluice_profile_class& r) {
  return take_name(r.name);
}

sluice_profile_route to_record(const Route& route) noexcept {
  sluice_profile_route r{};
  put_name(r.name, route.name);
  put_name(r.priority_class, route.priority_class);
  r.requests = route.requests;
  r.n_serial_mean = route.n_serial_mean;
  r.n_serial_median = route.n_serial_median;
  r.n_serial_p90 = route.n_serial_p90;
  r.untraced_share = route.untraced_share;
  r.last_seen = to_nanos(route.last_seen);
  r.n_serial_calibrated = route.n_serial_calibrated;
  return r;
}

Route from_record(const sluice_profile_route& r) {
  Route route;
  route.name = take_name(r.name);
  route.priority_class = take_name(r.priority_class);
  route.requests = r.requests;
  route.n_serial_mean = finite(r.n_serial_mean);
  route.n_serial_median = finite(r.n_serial_median);
  route.n_serial_p90 = finite(r.n_serial_p90);
  route.untraced_share = std::clamp(finite(r.untraced_share), 0.0, 1.0);
  route.last_seen = moment_of(r.last_seen);
  route.n_serial_calibrated = std::isfinite(r.n_serial_calibrated) ? r.n_serial_calibrated : -1;
  return route;
}

sluice_profile_residual to_record(const Residual& residual) noexcept {
  sluice_profile_residual r{};
  r.residual = residual.residual.count();
  r.samples = residual.samples;
  r.measured_at = to_nanos(residual.measured_at);
  return r;
}

Residual from_record(const sluice_profile_residual& r) {
  Residual residual;
  residual.residual = nanos_of(r.residual);
  residual.samples = static_cast<std::uint32_t>(std::min<std::uint64_t>(r.samples, UINT32_MAX));
  residual.measured_at = moment_of(r.measured_at);
  return residual;
}

}  // namespace sluice::profile
