// What the session tracker costs per transaction: one call for what the client sent, one for the answer.
#include <string>

#include <benchmark/benchmark.h>

#include "protocol/backend_messages.h"
#include "protocol/frontend_messages.h"
#include "protocol/session_tracker.h"
#include "trace/call_batch.h"
#include "trace/route_names.h"
#include "trace/session_calls.h"

namespace {

using sluice::Bytes;
using sluice::ByteView;
using namespace sluice::protocol;

struct Totals {
  std::uint64_t samples = 0;
  void on_sample(std::chrono::nanoseconds, SampleKind, SessionTracker::TimePoint) { ++samples; }
  void on_error(const ErrorClass&) { ++samples; }
  void on_ready(const SessionTracker::Ready&) { ++samples; }
  void on_transaction_end(std::chrono::nanoseconds) { ++samples; }
};

// The same with a look at comments, as a session has it: calls of a trace go into batches.
struct Traced : Totals, private sluice::trace::CallSink {
  sluice::trace::RouteNames names;
  sluice::trace::SessionCalls calls{*this, names, std::chrono::seconds(5)};
  sluice::trace::CallBatcher batcher{512};

  void on_piece(char type, ByteView piece, bool complete, SessionTracker::TimePoint now) {
    calls.on_piece(type, piece, complete, now);
  }
  void on_ready(const SessionTracker::Ready& ready) {
    ++samples;
    calls.on_ready(ready.status, ready.idle, ready.at);
  }
  void finished(const sluice::trace::Call& call, const sluice::trace::RouteName& route) override {
    batcher.add(call, route, {});
    if (batcher.full()) benchmark::DoNotOptimize(batcher.take());
  }
};

void run(benchmark::State& state, const Bytes& request, const Bytes& answer) {
  SessionTracker tracker;
  Totals totals;
  SessionTracker::TimePoint now{};
  for (auto _ : state) {
    now += std::chrono::microseconds(50);
    benchmark::DoNotOptimize(tracker.on_frontend(request, now));
    tracker.on_backend(answer, now, totals);
  }
  benchmark::DoNotOptimize(totals.samples);
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * (request.size() + answer.size())));
}

Bytes rows(std::size_t count, std::size_t bytes) {
  Bytes out;
  const std::vector<std::optional<std::string>> row{std::string(bytes, 'x')};
  for (std::size_t i = 0; i < count; ++i)
    append_data_row(out, row);
  return out;
}

void tracker_simple_query(benchmark::State& state) {
  Bytes request;
  append_query(request, "SELECT abalance FROM pgbench_accounts WHERE aid = 123456;");
  Bytes answer;
  append_row_description(answer, std::vector<TextColumn>{{"abalance", 23}});
  sluice::append(answer, rows(1, 4));
  append_command_complete(answer, "SELECT 1");
  append_ready_for_query(answer, 'I');
  run(state, request, answer);
}
BENCHMARK(tracker_simple_query);

void tracker_prepared_query(benchmark::State& state) {
  Bytes request;
  append_bind(request, "", "P0_1");
  append_describe(request, 'P', "");
  append_execute(request, "", 0);
  append_sync(request);
  Bytes answer;
  append_message(answer, '2', {});
  append_row_description(answer, std::vector<TextColumn>{{"abalance", 23}});
  sluice::append(answer, rows(1, 4));
  append_command_complete(answer, "SELECT 1");
  append_ready_for_query(answer, 'I');
  run(state, request, answer);
}
BENCHMARK(tracker_prepared_query);

// A result of many rows, of the size given.
void tracker_rows(benchmark::State& state) {
  Bytes request;
  append_query(request, "SELECT 1");
  Bytes answer = rows(1000, static_cast<std::size_t>(state.range(0)));
  append_command_complete(answer, "SELECT 1000");
  append_ready_for_query(answer, 'I');
  run(state, request, answer);
  state.SetItemsProcessed(state.iterations() * 1000);
}
BENCHMARK(tracker_rows)->Arg(10)->Arg(100)->Arg(1000);

// Requests of one statement each, ten different ones in turn.
void run_traced(benchmark::State& state, const std::vector<Bytes>& requests, const Bytes& answer) {
  SessionTracker tracker;
  Traced observer;
  SessionTracker::TimePoint now{};
  std::size_t next = 0;
  for (auto _ : state) {
    now += std::chrono::microseconds(50);
    const Bytes& request = requests[next];
    next = next + 1 == requests.size() ? 0 : next + 1;
    benchmark::DoNotOptimize(tracker.on_frontend(request, now, observer));
    tracker.on_backend(answer, now, observer);
  }
  benchmark::DoNotOptimize(observer.samples);
}

std::string commented(std::string sql, int request) {
  return sql +
         " /"
         "*action='show',controller='articles',framework='rails',route='%2Farticles%2F%3Aid',traceparent='"
         "00-" +
         std::string(31, 'a') + std::to_string(request) + "-c532cb4098ac3dd2-01'*/";
}

void tracker_simple_query_looked_at(benchmark::State& state) {
  std::vector<Bytes> requests(10);
  for (int i = 0; i < 10; ++i) {
    const std::string sql = "SELECT abalance FROM pgbench_accounts WHERE aid = 123456;";
    append_query(requests[static_cast<std::size_t>(i)], state.range(0) == 0 ? sql : commented(sql, i));
  }
  Bytes answer;
  append_row_description(answer, std::vector<TextColumn>{{"abalance", 23}});
  sluice::append(answer, rows(1, 4));
  append_command_complete(answer, "SELECT 1");
  append_ready_for_query(answer, 'I');
  run_traced(state, requests, answer);
}
BENCHMARK(tracker_simple_query_looked_at)->ArgName("comments")->Arg(0)->Arg(1);

void tracker_prepared_query_looked_at(benchmark::State& state) {
  Bytes request;
  append_bind(request, "", "P0_1");
  append_describe(request, 'P', "");
  append_execute(request, "", 0);
  append_sync(request);
  Bytes answer;
  append_message(answer, '2', {});
  append_row_description(answer, std::vector<TextColumn>{{"abalance", 23}});
  sluice::append(answer, rows(1, 4));
  append_command_complete(answer, "SELECT 1");
  append_ready_for_query(answer, 'I');
  run_traced(state, {request}, answer);
}
BENCHMARK(tracker_prepared_query_looked_at);

}  // namespace
