// What the placer does for each request besides moving bytes: the route among a thousand, the host among
// eight, and the heads. The budget of a decision is 2 us.

#include <benchmark/benchmark.h>

#include "config/placer_config.h"
#include "placer/chooser.h"
#include "placer/forward_head.h"
#include "placer/planner.h"
#include "placer/snapshot_parts.h"

namespace sluice::placer {
namespace {

constexpr std::size_t kRoutes = 1000, kHosts = 8;

std::string configuration(std::string_view policy) {
  std::string text = "policy: " + std::string(policy) + "\nprofile_path: p\ncompute_hosts:\n";
  for (std::size_t i = 0; i < kHosts; ++i)
    text += "  - {name: h" + std::to_string(i) + ", address: 10.0.0." + std::to_string(i + 1) + "}\n";
  text += "routes:\n";
  for (std::size_t i = 0; i < kRoutes; ++i)
    text += "  - {pattern: /section" + std::to_string(i % 30) + "/:id/page" + std::to_string(i) +
            ", n_serial: 3}\n";
  return text;
}

View view_of(std::string_view policy) {
  const auto loaded = config::load_placer_text(configuration(policy), "/placer.yaml");
  auto snapshot = std::make_shared<Snapshot>();
  snapshot->config = loaded.config;
  snapshot->table = make_table(*loaded.config);
  snapshot->hosts = make_hosts(*loaded.config, nullptr);
  snapshot->learner = make_learner(*loaded.config, snapshot->hosts, nullptr);
  View view = make_view(snapshot, {}, {});
  for (RouteView& route : view.routes) {
    for (std::size_t i = 0; i < kHosts; ++i) {
      placement::HostInputs& host = route.hosts[i];
      host.client = host.path = host.connect = placement::Millis(1.0 + static_cast<double>(i));
      host.sql = placement::Millis(1.0 / (1.0 + static_cast<double>(i)));
      host.residual = placement::Millis(0.5);
    }
    route.effective = placement::effective_policy(loaded.config->options.policy, route.inputs, route.hosts);
  }
  for (const HostPtr& host : snapshot->hosts)
    host->up = true;
  return view;
}

void decide(benchmark::State& state, std::string_view policy) {
  const View view = view_of(policy);
  std::vector<std::string> paths;
  for (std::size_t i = 0; i < kRoutes; ++i)
    paths.push_back("/section" + std::to_string(i % 30) + "/12345/page" + std::to_string(i));
  Rng rng(1);
  std::chrono::steady_clock::time_point now{};
  std::size_t at = 0;
  for (auto _ : state) {
    const std::string& path = paths[at];
    at = (at + 1) % kRoutes;
    now += std::chrono::microseconds(50);
    const auto route = view.snapshot->table.match("GET", path);
    const auto place = choose_place(view, *route, 0, now, rng);
    finish_place(view, *route, *place, Verdict::Answered, std::chrono::milliseconds(3), now);
    benchmark::DoNotOptimize(place);
  }
}
BENCHMARK_CAPTURE(decide, user_first, "user_first")->Name("placer/decide/user_first");
BENCHMARK_CAPTURE(decide, profiled, "profiled")->Name("placer/decide/profiled");
BENCHMARK_CAPTURE(decide, adaptive, "adaptive")->Name("placer/decide/adaptive with what comes of it");

void rewrite_request(benchmark::State& state) {
  constexpr std::string_view kHead =
      "GET /articles/17?page=2 HTTP/1.1\r\nHost: example.org\r\nUser-Agent: Mozilla/5.0 (X11; Linux "
      "x86_64)\r\n"
      "Accept: text/html,application/xhtml+xml;q=0.9\r\nAccept-Language: en\r\nAccept-Encoding: gzip, "
      "deflate, br\r\n"
      "Cookie: session=0123456789abcdef0123456789abcdef\r\nConnection: keep-alive\r\n\r\n";
  http::RequestHead head;
  ForwardPolicy policy;
  policy.via = "sluice";
  Rng rng(1);
  RequestIds ids;
  std::string out;
  for (auto _ : state) {
    std::size_t searched = 0;
    const http::HeadEnd end = http::find_head_end(kHead, searched);
    const http::Refusal refusal = http::parse_request(kHead.substr(0, end.bytes), {}, head);
    benchmark::DoNotOptimize(refusal.status);
    out.clear();
    append_request_head(out, head, policy, {"10.0.0.1", false, false}, {}, rng, ids);
    benchmark::DoNotOptimize(out.data());
  }
}
BENCHMARK(rewrite_request)->Name("placer/judge and rewrite a request's head");

}  // namespace
}  // namespace sluice::placer
