#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sluice/policy/ids.h"

#include "admin/router_view.h"
#include "profile/contents.h"
#include "telemetry/registry.h"
#include "trace/call_batch.h"
#include "trace/route_table.h"
#include "trace/trace_table.h"

namespace sluice::router {

// What the router knows of the applications' routes: takes the calls of all threads, counts them by host and
// route, and groups them into requests.
// Thread: the control thread, except accepts().
class RouteWatch {
 public:
  using Clock = std::chrono::steady_clock;
  using ClassName = std::function<std::string(policy::ClassId)>;
  // Batches that may wait for the control thread.
  static constexpr std::size_t kBatchesMax = 32;
  // How late a call may come after its end: threads hand theirs over twice a second.
  static constexpr std::chrono::seconds kLateness{1};

  // `metrics` is the control thread's.
  RouteWatch(telemetry::Registry& registry, telemetry::ThreadMetrics& metrics, std::size_t routes_max,
             std::chrono::milliseconds idle);
  RouteWatch(const RouteWatch&) = delete;
  RouteWatch& operator=(const RouteWatch&) = delete;

  // Any thread: whether a batch may be posted for take().
  bool accepts() noexcept;
  void take(const trace::CallBatch& batch, Clock::time_point now);
  // About once a second: closes requests that went quiet, and once a minute looks which routes are in use.
  void tick(Clock::time_point now);
  void set_idle(std::chrono::milliseconds idle) { traces_.set_idle(idle + kLateness); }

  // The routes in use, in the order of their slots.
  std::vector<profile::Route> routes(const ClassName& class_name) const;
  std::vector<admin::RouteRow> rows(const ClassName& class_name, Clock::time_point now) const;
  void sample(telemetry::Samples& samples) const;

 private:
  void expect(const trace::CallBatch::Entry& entry, std::optional<std::uint32_t> slot);
  void record(const trace::CallBatch::Entry& entry, std::optional<std::uint32_t> slot, Clock::time_point now);
  void close(trace::RouteNumber route, std::uint32_t n_serial);
  void review();
  void clear(telemetry::RouteLabel route);
  void publish_names();

  telemetry::Registry& registry_;
  telemetry::ThreadMetrics& metrics_;
  trace::RouteTable table_;
  trace::TraceTable traces_;
  std::size_t published_ = 0;  // slots whose names the registry has
  Clock::time_point reviewed_{};
  std::atomic<std::size_t> waiting_{0};
};

}  // namespace sluice::router
