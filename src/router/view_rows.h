#pragma once

#include <chrono>
#include <cstddef>
#include <vector>

#include "admin/router_view.h"
#include "protocol/error_response.h"
#include "router/server_pool.h"
#include "telemetry/reading.h"

namespace sluice::router {

class PastMinute;
class Router;
class Worker;

// The clients and server connections of one thread, or of all.
struct ConnectionRows {
  std::vector<admin::ConnectionRow> clients, servers;  // servers: those in use
  std::vector<ServerPool::IdleInfo> idle;              // of the threads' own
  std::vector<admin::ListenerRow> listeners;
  std::size_t logging_in = 0;
  std::size_t sessions = 0;  // of all kinds, whether logged in or not
  std::size_t buffers_lent = 0, buffers_free = 0;
  void append(ConnectionRows more);
};

// Whether rows of these parts need the threads' connections.
bool needs_connections(admin::Part part);
// On the worker's thread.
ConnectionRows connection_rows(Worker& worker, admin::WallTime now);
// The parts asked for, from what is shared and from the gathered connections.
admin::Snapshot make_snapshot_rows(Router& router, admin::Part part, ConnectionRows connections);

// view_sizes.cc
std::vector<admin::SizeRow> size_rows(Router& router);
std::vector<admin::CutoffRow> cutoff_rows(Router& router);
// Parts of it, each as it stands in the overview too. Without a `past` nothing is said of the last minute.
std::vector<admin::ReplicaRow> replica_rows(Router& router, const ConnectionRows& connections,
                                            const std::vector<ServerPool::IdleInfo>& idle,
                                            const telemetry::Reading& reading);
std::vector<admin::ClassRow> class_rows(Router& router, const telemetry::Reading& reading, PastMinute* past);
std::vector<admin::DecisionRow> decision_rows(Router& router, std::size_t most);  // the newest
std::vector<admin::RoleChangeEvent> role_change_events(Router& router, std::size_t most);
admin::Micros to_micros(std::chrono::nanoseconds time);
admin::Quantiles quantiles_of(const telemetry::HistogramReading& histogram);
// Part::Overview.
admin::Snapshot make_overview(Router& router, PastMinute& past);

// What a client hears when an operator ends its session.
protocol::ErrorFields killed();

}  // namespace sluice::router
