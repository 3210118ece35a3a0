#include "tests/placement/simulation.h"

#include <algorithm>
#include <cmath>
#include <queue>

namespace sluice::placement {
namespace {

struct Completion {
  double t_s = 0;
  std::size_t served = 0;  // index of the request
  Placement placement;

  friend bool operator>(const Completion& a, const Completion& b) { return a.t_s > b.t_s; }
};

Now at(double t_s) {
  return std::chrono::duration_cast<Now>(std::chrono::duration<double>(t_s));
}

class Run {
 public:
  explicit Run(const Simulated& what) : what_(what), rng_(what.seed) {
    for (const SimulatedHost& host : what.hosts) {
      known_.push_back(host.known);
      free_at_.emplace_back(host.servers, 0.0);
    }
    for (std::size_t p = 0; p < what.placers; ++p)
      placers_.emplace_back(1, what.hosts.size(), what.settings);
  }

  std::vector<Served> run() {
    double t = 0;
    const double rate = what_.rate_per_s * static_cast<double>(what_.placers);
    while ((t -= std::log(1 - rng_.unit()) / rate) < what_.duration_s) {
      complete_until(t);
      arrive(t);
    }
    complete_until(1e9);
    return std::move(served_);
  }

 private:
  void arrive(double t) {
    const std::size_t p = rng_.below(what_.placers);
    const Placement placement = place(p, t);
    placers_[p].started(placement.host);
    std::vector<double>& servers = free_at_[placement.host];
    const auto first_free = std::min_element(servers.begin(), servers.end());
    *first_free = std::max(t, *first_free) + service_ms(placement.host, t) / 1000;
    served_.push_back({t, p, placement.host, placement.why, (*first_free - t) * 1000});
    in_flight_.push({*first_free, served_.size() - 1, placement});
  }

  Placement place(std::size_t p, double t) {
    if (what_.policy != Policy::Adaptive) return {choose(what_.policy, what_.route, known_).value()};
    return placers_[p].choose(0, what_.route, known_, at(t), rng_).value();
  }

  // A floor and an exponential tail: with a tail of 0.1 the median is 0.969 of the mean.
  double service_ms(std::size_t host, double t) {
    const double mean = what_.hosts[host].mean_ms(t);
    const double outlier = rng_.unit() < what_.outlier_share ? 100 : 1;
    return mean * outlier * (1 - what_.tail - what_.tail * std::log(1 - rng_.unit()));
  }

  void complete_until(double t) {
    for (; !in_flight_.empty() && in_flight_.top().t_s <= t; in_flight_.pop()) {
      const Completion& done = in_flight_.top();
      const Served& served = served_[done.served];
      placers_[served.placer].finished(served.host);
      placers_[served.placer].observe(0, done.placement, Millis(served.response_ms), at(done.t_s));
    }
  }

  const Simulated& what_;
  Rng rng_;
  std::vector<HostInputs> known_;
  std::vector<Adaptive> placers_;
  std::vector<std::vector<double>> free_at_;  // per host and server
  std::vector<Served> served_;
  std::priority_queue<Completion, std::vector<Completion>, std::greater<>> in_flight_;
};

}  // namespace

std::vector<Served> simulate(const Simulated& what) {
  return Run(what).run();
}

SimulatedHost constant_host(double mean_ms, double path_ms, double known_ms) {
  SimulatedHost host;
  host.mean_ms = [mean_ms](double) { return mean_ms; };
  host.known.client = host.known.path = host.known.connect = Millis(path_ms);
  host.known.sql = Millis(((known_ms > 0 ? known_ms : mean_ms) - path_ms) / 12);
  host.known.residual = Millis(0);
  return host;
}

}  // namespace sluice::placement
