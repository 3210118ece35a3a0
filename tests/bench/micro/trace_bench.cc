// What tracing costs per call, from its Query to the numbers of its route: sessions, batches, tables.
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "base/bytes.h"
#include "router/call_collector.h"
#include "router/route_watch.h"
#include "telemetry/registry.h"

namespace {

using namespace sluice;
using namespace std::chrono_literals;
using Clock = router::RouteWatch::Clock;

constexpr std::size_t kSessions = 16;
constexpr std::size_t kDigits = 16;  // of the trace-id, those that differ

telemetry::Names one_host() {
  telemetry::Names names;
  names.classes = {"premium"};
  names.hosts = {"here"};
  return names;
}

// The body of a Query whose comment names one of `routes` routes.
std::string query(std::int64_t route, bool comment) {
  std::string body = "SELECT abalance FROM pgbench_accounts WHERE aid = 123456";
  if (comment)
    body += " /*action='show',controller='articles',framework='rails',route='%2Farticles%2F" +
            std::to_string(route) + "%2F%3Aid',traceparent='00-5bd66ef5095369c70000000000000000" +
            "-c532cb4098ac3dd2-01'*/";
  body += ';';
  body += '\0';
  return body;
}

void traced_call(benchmark::State& state) {
  const bool comments = state.range(0) != 0;
  const std::int64_t routes = state.range(1);
  const auto calls_per_request = static_cast<std::uint64_t>(state.range(2));
  telemetry::Registry registry(one_host());
  telemetry::ThreadMetrics& metrics = registry.add_thread();
  Clock::time_point now(1h);
  router::RouteWatch watch(registry, metrics, 100, 5s);
  router::CallCollector collector(metrics, [&](const trace::CallBatch& batch) {
    if (!watch.accepts()) return false;
    watch.take(batch, now);
    return true;
  });
  std::vector<std::unique_ptr<router::SessionTrace>> sessions;
  for (std::size_t i = 0; i < kSessions; ++i)
    sessions.push_back(std::make_unique<router::SessionTrace>(collector, trace::Origin{}, 5s));
  std::vector<std::string> queries;
  for (std::int64_t route = 0; route < routes; ++route)
    queries.push_back(query(route, comments));
  const std::size_t digits = queries[0].find("-c532cb4098ac3dd2");

  std::uint64_t number = 0;
  Clock::time_point ticked = now;
  for (auto _ : state) {
    ++number;
    // As many requests at a time as there are sessions.
    const std::uint64_t trace = number / (kSessions * calls_per_request) * kSessions + number % kSessions + 1;
    std::string& body = queries[trace % queries.size()];
    if (comments)
      for (std::size_t i = 0; i < kDigits; ++i)
        body[digits - 1 - i] = "0123456789abcdef"[trace >> (4 * i) & 15];
    trace::SessionCalls& calls = sessions[number % kSessions]->calls;
    calls.on_piece('Q', as_bytes(body), true, now);
    now += 50us;
    calls.on_ready('I', true, now);
    if (now - ticked < 500ms) continue;
    ticked = now;
    collector.hand_over();
    watch.tick(now);
  }
}
BENCHMARK(traced_call)
    ->ArgNames({"comments", "routes", "calls"})
    ->Args({0, 1, 1})
    ->Args({1, 1, 1})
    ->Args({1, 4, 1})
    ->Args({1, 4, 12});

}  // namespace
