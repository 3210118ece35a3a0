#include <benchmark/benchmark.h>

#include "recording/trace_writer.h"
#include "router/recording_batch.h"

namespace sluice::router {
namespace {

// What a transaction of one query costs its thread: three events, without the clock, which it reads once
// more.
void note_transaction(benchmark::State& state) {
  RecordingBuffer buffer(0, [](const RecordedBatch& batch) {
    benchmark::DoNotOptimize(batch.data());
    return true;
  });
  SessionRecording session(buffer, {"premium", "alice", "app", "here"});
  SessionRecording::Clock::time_point now{};
  for (auto _ : state) {
    now += std::chrono::microseconds(100);
    session.admitted(RecordedEvent::Kind::Transaction, policy::ReplicaId(1), {}, 0.001, now);
    session.answered(std::chrono::microseconds(80), SessionRecording::Clock::now());
    session.ended(now);
  }
}
BENCHMARK(note_transaction);

// And the control thread: three records, compressed.
void write_transaction(benchmark::State& state) {
  recording::TraceWriter writer;
  writer.begin_file(0);
  std::uint64_t number = 0, bytes = 0;
  for (auto _ : state) {
    const std::chrono::microseconds at(number * 100 % 1'000'000'007);
    recording::Admission admission;
    admission.number = ++number;
    admission.at = at;
    admission.transaction = true;
    admission.session_class = writer.name(recording::NameKind::Class, "premium");
    admission.replica = writer.name(recording::NameKind::Replica, "r1");
    admission.user = writer.name(recording::NameKind::User, "4f2a9c0d11223344");
    admission.database = writer.name(recording::NameKind::Database, "99aa88bb77cc66dd");
    writer.add(admission);
    writer.add(recording::Queries{number, {{{}, std::chrono::microseconds(80 + number * 7919 % 400)}}});
    writer.add(recording::End{number, at + std::chrono::microseconds(90 + number * 7919 % 400)});
    bytes += writer.take().size();
  }
  state.counters["bytes"] =
      benchmark::Counter(static_cast<double>(bytes), benchmark::Counter::kAvgIterations);
}
BENCHMARK(write_transaction);

}  // namespace
}  // namespace sluice::router
