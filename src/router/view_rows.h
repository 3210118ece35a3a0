#pragma once

#include <vector>

#include "admin/router_view.h"
#include "protocol/error_response.h"
#include "router/server_pool.h"

namespace sluice::router {

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

// What a client hears when an operator ends its session.
protocol::ErrorFields killed();

}  // namespace sluice::router
