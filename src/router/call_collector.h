#pragma once

#include <functional>

#include "telemetry/metrics.h"
#include "trace/call_batch.h"
#include "trace/route_names.h"
#include "trace/session_calls.h"

namespace sluice::router {

// The finished calls of one thread's sessions, on their way to the table of traces in batches.
class CallCollector {
 public:
  static constexpr std::size_t kBatchCalls = 1024;
  // False when it takes no more at the moment.
  using Deliver = std::function<bool(trace::CallBatch)>;

  CallCollector(telemetry::ThreadMetrics& metrics, Deliver deliver)
      : metrics_(metrics), deliver_(std::move(deliver)) {}

  void add(const trace::Call& call, const trace::RouteName& route, const trace::Origin& origin) {
    batcher_.add(call, route, origin);
    if (batcher_.full()) hand_over();
  }
  // What has been collected so far; to be called about twice a second.
  void hand_over();
  // What the thread's sessions call their routes.
  trace::RouteNames& names() noexcept { return names_; }

 private:
  telemetry::ThreadMetrics& metrics_;
  Deliver deliver_;
  trace::CallBatcher batcher_{kBatchCalls};
  trace::RouteNames names_;
};

// A session's calls and where they go.
class SessionTrace final : private trace::CallSink {
 public:
  SessionTrace(CallCollector& collector, trace::Origin origin, std::chrono::nanoseconds memory)
      : collector_(collector), origin_(origin), calls(*this, collector.names(), memory) {}
  SessionTrace(const SessionTrace&) = delete;
  SessionTrace& operator=(const SessionTrace&) = delete;

 private:
  void finished(const trace::Call& call, const trace::RouteName& route) override {
    collector_.add(call, route, origin_);
  }

  CallCollector& collector_;
  const trace::Origin origin_;

 public:
  trace::SessionCalls calls;
};

}  // namespace sluice::router
