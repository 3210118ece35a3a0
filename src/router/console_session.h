#pragma once

#include <string_view>

#include <asio/awaitable.hpp>

#include "net/stream.h"
#include "router/client_login.h"
#include "router/snapshot.h"
#include "router/worker.h"

namespace sluice::router {

// "sluice", or "pgbouncer" for what knows PgBouncer.
bool console_database(std::string_view name) noexcept;

// Serves the admin console to an authenticated client until it leaves; refuses users that are neither admin
// nor stats users. The client may stop it by closing, the worker by closing `client`.
asio::awaitable<void> run_console(Worker& worker, SnapshotPtr snapshot, net::Stream& client,
                                  ClientIdentity identity);

}  // namespace sluice::router
