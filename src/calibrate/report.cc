#include <fmt/format.h>

#include "calibrate/run.h"

namespace sluice::calibrate {
namespace {

std::string row(std::string_view what, std::string_view host, const calibration::Measurement& m,
                std::string_view more) {
  return fmt::format("{:<24} {:<16} {:>9.3f}  {:>9.3f} .. {:<9.3f} {:>7}  {}\n", what, host, m.median.count(),
                     m.low.count(), m.high.count(), m.samples, more);
}

}  // namespace

std::string report(const calibration::Calibration& calibration) {
  std::string text = fmt::format("{:<24} {:<16} {:>9}  {:^22} {:>7}\n", "what", "host", "median ms",
                                 "95% interval", "samples");
  for (const calibration::Host& host : calibration.hosts) {
    if (host.connect) text += row("connect", host.name, *host.connect, "");
    if (host.health) text += row("health", host.name, *host.health, "");
    if (host.select_1) text += row("SELECT 1", host.name, *host.select_1, "");
  }
  for (const calibration::Route& route : calibration.routes) {
    const std::string n = route.n_serial ? fmt::format("N_serial {:g} ({})", *route.n_serial,
                                                       calibration::source_word(route.n_serial_source))
                                         : "N_serial unknown";
    for (const calibration::RouteOnHost& on_host : route.hosts) {
      const std::string residual = on_host.residual
                                       ? fmt::format("residual {:.3f}", on_host.residual->count())
                                       : "no residual: N_serial or SELECT 1 is not known";
      text += row(route.name, on_host.host, on_host.response, n + ", " + residual);
    }
  }
  return text;
}

std::string describe(const Plan& plan) {
  std::string text =
      fmt::format("{} warm-ups and {} samples of each, {} requests and connects in all; nothing was sent:\n",
                  plan.warm_ups, plan.samples, plan.steps());
  for (const Target& target : plan.targets) {
    text += fmt::format("  {} at {}:{}: connect{}\n", target.name, target.address, target.port,
                        target.health_path.empty() ? "" : ", GET " + target.health_path);
    for (const RouteRequest& route : plan.routes) {
      const auto sql = route.sql.find(target.name);
      text +=
          fmt::format("    GET {} for {}: N_serial {}, SELECT 1 {}\n", route.path, route.name,
                      route.n_serial ? fmt::format("{:g}", *route.n_serial) : "unknown",
                      sql != route.sql.end() ? fmt::format("{:.3f} ms by the profile", sql->second.count())
                                             : "of a merged file");
    }
  }
  return text;
}

}  // namespace sluice::calibrate
