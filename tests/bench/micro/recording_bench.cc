#include <benchmark/benchmark.h>

#include "recording/trace_writer.h"
#include "router/recording_batch.h"

namespace sluice::router {
namespace {

// What a transaction of one query costs its thread, which knows the moments anyway.
void note_transaction(benchmark::State& state) {
  RecordingBuffer buffer(0, [](const RecordedBatch& batch) {
    benchmark::DoNotOptimize(batch.events.data());
    return true;
  });
  SessionRecording session(buffer, {"premium", "alice", "app", "here"});
  SessionRecording::Clock::time_point now{};
  for (auto _ : state) {
    now += std::chrono::microseconds(100);
    session.admitted(RecordedKind::Transaction, policy::ReplicaId(1), {}, 0.001, now);
    session.answered(std::chrono::microseconds(80), now);
    session.ended(now);
  }
}
BENCHMARK(note_transaction);

// And the control thread, apart from the times in other units and the way there.
void write_transaction(benchmark::State& state) {
  recording::TraceWriter writer;
  writer.begin_file(0);
  std::uint64_t number = 0, bytes = 0;
  recording::Whole whole;
  whole.transaction = true;
  whole.replica = writer.name(recording::NameKind::Replica, "r1");
  whole.expected_size = std::chrono::milliseconds(1);
  for (auto _ : state) {
    const std::chrono::microseconds at(number * 100 % 1'000'000'007);
    ++number;
    whole.at = at;
    whole.queries = {{{}, std::chrono::microseconds(80 + number * 7919 % 400)}};
    writer.add(whole);
    bytes += writer.take().size();
  }
  state.counters["bytes"] =
      benchmark::Counter(static_cast<double>(bytes), benchmark::Counter::kAvgIterations);
}
BENCHMARK(write_transaction);

}  // namespace
}  // namespace sluice::router
