#include "calibrate/procedure.h"

#include <algorithm>
#include <cstdio>
#include <memory>

#include "sluice/rng.h"
#include "sluice/stats/interval.h"
#include "sluice/stats/quantile.h"

#include "calibrate/failure.h"
#include "calibrate/http_client.h"

namespace sluice::calibrate {
namespace {

constexpr Millis kWidthAlwaysGood{0.02};  // what a clock and two context switches scatter by
constexpr std::uint64_t kOrderSeed = 1;

struct Arm {
  HttpClient* client = nullptr;
  std::string path;  // empty: a TCP connect
  std::size_t series = 0;
};

asio::awaitable<Clock::duration> take(Arm& arm) {
  if (arm.path.empty()) {
    const auto taken = co_await arm.client->connect_once();
    co_return taken;
  }
  const auto taken = co_await arm.client->get(arm.path);
  co_return taken;
}

calibration::Measurement measurement_of(const std::vector<double>& ms, calibration::WallTime now) {
  const auto interval = stats::median_interval(ms);
  const auto [least, greatest] = std::minmax_element(ms.begin(), ms.end());
  return {Millis(stats::median(ms)), Millis(interval ? interval->low : *least),
          Millis(interval ? interval->high : *greatest), static_cast<std::uint32_t>(ms.size()), now};
}

void judge(std::vector<std::string>& sentences, const std::string& what, const calibration::Measurement& m,
           double width_max) {
  const Millis width = m.high - m.low;
  if (width <= kWidthAlwaysGood || width <= width_max * m.median) return;
  char text[160];
  std::snprintf(text, sizeof text,
                ": median %.3f ms of %u samples, but anything from %.3f to %.3f ms is as likely",
                m.median.count(), m.samples, m.low.count(), m.high.count());
  sentences.push_back(what + text);
}

}  // namespace

asio::awaitable<std::vector<Series>> measure(Plan plan, OnStep on_step) {
  std::vector<std::unique_ptr<HttpClient>> clients;
  std::vector<Series> all;
  std::vector<Arm> connects, pages;
  for (const Target& target : plan.targets) {
    HttpClient* const client = clients
                                   .emplace_back(std::make_unique<HttpClient>(target.name, target.address,
                                                                              target.port, plan.timeout))
                                   .get();
    const auto add = [&](std::vector<Arm>& arms, const std::string& what, const std::string& path) {
      arms.push_back({client, path, all.size()});
      all.push_back({target.name, what, {}});
      all.back().ms.reserve(plan.samples);
    };
    add(connects, "connect", "");
    // Without a health page the way is what a TCP connect takes.
    add(target.health_path.empty() ? connects : pages, "health", target.health_path);
    for (const RouteRequest& route : plan.routes)
      add(pages, route.name, route.path);
  }
  std::size_t done = 0;
  Rng rng(kOrderSeed);
  // Connects apart: an application server is still busy with a connection that came to nothing when the next
  // request comes.
  for (std::vector<Arm>* arms : {&pages, &connects})
    for (std::size_t round = 0; round < plan.warm_ups + plan.samples; ++round) {
      shuffle(*arms, rng);
      for (Arm& arm : *arms) {
        const auto taken = co_await take(arm);
        if (round >= plan.warm_ups) all[arm.series].ms.push_back(Millis(taken).count());
        if (on_step) on_step(++done, plan.steps());
      }
    }
  co_return all;
}

calibration::Calibration evaluate(const Plan& plan, const std::vector<Series>& all,
                                  calibration::WallTime now) {
  calibration::Calibration result;
  for (const RouteRequest& route : plan.routes)
    result.routes.push_back({route.name, route.n_serial, route.n_serial_source, {}});
  for (const Target& target : plan.targets)
    result.hosts.push_back({target.name, {}, {}, {}});
  for (const Series& series : all) {
    if (series.ms.empty()) continue;
    const calibration::Measurement measured = measurement_of(series.ms, now);
    auto host = std::find_if(result.hosts.begin(), result.hosts.end(),
                             [&](const calibration::Host& h) { return h.name == series.host; });
    if (host == result.hosts.end()) host = result.hosts.insert(host, {series.host, {}, {}, {}});
    if (series.what == "health") host->health = measured;
    if (series.what == "connect") host->connect = measured;
    if (series.what == "select_1") host->select_1 = measured;
    for (std::size_t r = 0; r < plan.routes.size(); ++r) {
      if (plan.routes[r].name != series.what) continue;
      const auto sql = plan.routes[r].sql.find(series.host);
      calibration::RouteOnHost on_host{series.host, measured, {}, {}};
      if (sql != plan.routes[r].sql.end()) on_host.sql = sql->second;
      result.routes[r].hosts.push_back(std::move(on_host));
    }
  }
  calibration::complete(result);
  return result;
}

std::vector<std::string> too_noisy(const calibration::Calibration& calibration, double width_max) {
  std::vector<std::string> sentences;
  for (const calibration::Host& host : calibration.hosts) {
    if (host.health) judge(sentences, host.name + " health", *host.health, width_max);
    if (host.connect) judge(sentences, host.name + " connect", *host.connect, width_max);
    if (host.select_1) judge(sentences, host.name + " SELECT 1", *host.select_1, width_max);
  }
  for (const calibration::Route& route : calibration.routes)
    for (const calibration::RouteOnHost& on_host : route.hosts)
      judge(sentences, on_host.host + " " + route.name, on_host.response, width_max);
  return sentences;
}

}  // namespace sluice::calibrate
