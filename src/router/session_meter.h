#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "sluice/policy/ids.h"

#include "protocol/error_scanner.h"
#include "protocol/session_tracker.h"
#include "router/call_collector.h"
#include "router/recording_batch.h"
#include "telemetry/metrics.h"

namespace sluice::router {

// What one session adds to its thread's metrics. Bytes are added up here and handed on by flush(), so that a
// message costs two additions.
class SessionMeter {
 public:
  explicit SessionMeter(telemetry::ThreadMetrics& metrics) : metrics_(metrics) {}

  // The labels of what follows.
  void begin(policy::ClassId priority, telemetry::PoolLabel pool, telemetry::ServerLabel server,
             telemetry::DatabaseLabel database) {
    priority_ = priority;
    pool_ = pool;
    server_ = server;
    database_ = database;
  }

  // The compute host that the session comes from.
  void set_host(telemetry::HostLabel host) noexcept { host_ = host; }

  // Looks at comments from here on.
  void trace(CallCollector& collector, trace::Origin origin, std::chrono::nanoseconds memory) {
    trace_.emplace(collector, origin, memory);
  }

  // Records what follows. Each replica that it gets is noted by itself: see SessionRecording.
  void record(RecordingBuffer& buffer, RecordedWho who) {
    recording_ = std::make_unique<SessionRecording>(buffer, std::move(who));
  }
  SessionRecording* recording() noexcept { return recording_.get(); }

  // What the session came to, for its last line in the log.
  struct Totals {
    std::uint64_t queries = 0, transactions = 0, errors = 0;
    std::uint64_t client_bytes = 0, server_bytes = 0;  // as of the last flush()
    std::chrono::nanoseconds service{0};               // the server worked
    std::chrono::nanoseconds waiting{0};               // until there was one, all times together
  };

  void waited(std::chrono::nanoseconds time) noexcept { totals_.waiting += time; }
  void client_sent(std::size_t bytes) noexcept { from_client_ += bytes; }
  void server_sent(std::size_t bytes) noexcept { from_server_ += bytes; }
  void flush() noexcept;

  // As protocol::SessionTracker's observer.
  void on_sample(std::chrono::nanoseconds service, protocol::SampleKind,
                 protocol::SessionTracker::TimePoint now) {
    metrics_.record(telemetry::metric::response_seconds, service, priority_, pool_);
    metrics_.record(telemetry::metric::host_response_seconds, service, host_);
    metrics_.count(telemetry::metric::queries_total, database_);
    metrics_.add(telemetry::metric::query_seconds_total, service, database_);
    ++totals_.queries;
    totals_.service += service;
    if (recording_) recording_->answered(service, now);
  }
  void on_error(const protocol::ErrorClass& error) noexcept;
  void on_ready(const protocol::SessionTracker::Ready& ready) {
    if (trace_) trace_->calls.on_ready(ready.status, ready.idle, ready.at);
  }
  void on_piece(char type, ByteView piece, bool complete, protocol::SessionTracker::TimePoint now) {
    if (trace_) trace_->calls.on_piece(type, piece, complete, now);
  }
  void on_transaction_end(std::chrono::nanoseconds lasted) noexcept {
    ++totals_.transactions;
    metrics_.count(telemetry::metric::transactions_total, database_);
    metrics_.add(telemetry::metric::transaction_seconds_total, lasted, database_);
  }

  const Totals& totals() const noexcept { return totals_; }

 private:
  telemetry::ThreadMetrics& metrics_;
  policy::ClassId priority_;
  telemetry::PoolLabel pool_ = telemetry::PoolLabel::mixed();
  telemetry::ServerLabel server_ = telemetry::ServerLabel::primary();
  telemetry::DatabaseLabel database_;
  telemetry::HostLabel host_;
  std::uint64_t from_client_ = 0;  // not handed on yet
  std::uint64_t from_server_ = 0;
  Totals totals_;
  std::optional<SessionTrace> trace_;
  std::unique_ptr<SessionRecording> recording_;  // few routers record, and it is not small
};

}  // namespace sluice::router
