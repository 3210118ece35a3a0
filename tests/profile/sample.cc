#include "tests/profile/sample.h"

namespace sluice::profile {
namespace {

using namespace std::chrono_literals;

Moment at(std::uint64_t seconds) {
  return Moment(std::chrono::seconds(seconds));
}

Nanos ns(std::uint64_t count) {
  return Nanos(count);
}

Host host(const char* name, std::uint64_t base) {
  Host h;
  h.name = name;
  h.client_leg = ns(base + 1);
  h.client_leg_min = ns(base + 2);
  h.client_leg_deviation = ns(base + 3);
  h.samples = base + 4;
  h.sessions = static_cast<std::uint32_t>(base + 5);
  h.measured_at = at(base + 6);
  h.path = ns(base + 7);
  h.connect = ns(base + 8);
  h.path_samples = static_cast<std::uint32_t>(base + 9);
  h.calibrated_at = at(base + 10);
  return h;
}

Server server(const char* name, ServerRole role, std::uint64_t base) {
  Server s;
  s.name = name;
  s.role = role;
  s.up = base % 2 == 0;
  s.median = ns(base + 1);
  s.minimum = ns(base + 2);
  s.ewma = ns(base + 3);
  s.samples = base + 4;
  s.measured_at = at(base + 5);
  return s;
}

Route route(const char* name, std::uint64_t base) {
  Route r;
  r.name = name;
  r.priority_class = "premium";
  r.requests = base;
  r.n_serial_mean = static_cast<double>(base) + 0.5;
  r.n_serial_median = static_cast<double>(base) + 0.25;
  r.n_serial_p90 = static_cast<double>(base) + 0.75;
  r.untraced_share = 0.125;
  r.last_seen = at(base + 1);
  r.n_serial_calibrated = static_cast<double>(base) + 3;
  return r;
}

}  // namespace

Contents sample_contents(std::uint64_t salt) {
  Contents c;
  c.hosts = {host("compute-a", 1000 + salt), host("compute-b", 2000 + salt)};
  c.servers = {server("primary", ServerRole::Primary, 3000 + salt),
               server("r0", ServerRole::Replica, 4000 + salt),
               server("r1", ServerRole::Replica, 5001 + salt)};
  c.classes = {"premium", "freemium"};
  c.routes = {route("/feed", 6000 + salt), route("articles#show", 7000 + salt)};
  fit_matrices(c);
  for (std::size_t i = 0; i < c.rtt.size(); ++i)
    c.rtt[i] = {ns(8000 + salt + i), 10 + i, i % 2 == 0 ? Rtt::Source::Measured : Rtt::Source::Calibrated,
                at(20 + i)};
  for (std::size_t i = 0; i < c.residuals.size(); ++i)
    c.residuals[i] = {ns(9000 + salt + i) - 9001ns, static_cast<std::uint32_t>(500 + i), at(30 + i)};
  c.shares = {0, 0.25, 0.75, 0, 0, 0};
  return c;
}

}  // namespace sluice::profile
