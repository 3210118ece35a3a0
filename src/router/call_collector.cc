#include "router/call_collector.h"

#include <utility>

namespace sluice::router {

void CallCollector::hand_over() {
  if (batcher_.empty()) return;
  trace::CallBatch batch = batcher_.take();
  const std::size_t count = batch.entries.size();
  if (deliver_ && deliver_(std::move(batch))) return;
  metrics_.add(telemetry::metric::trace_calls_dropped_total, count);
}

}  // namespace sluice::router
