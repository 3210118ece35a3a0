#pragma once

#include <optional>
#include <string>

#include <asio/awaitable.hpp>

#include "router/server_connection.h"
#include "router/server_pool.h"
#include "router/snapshot.h"

namespace sluice::router {

// Makes a server connection clean for another session: rolls back what is open (`status` is the server's last
// ReadyForQuery), then runs server_reset_query, within server_reset_timeout. The reason when it is not clean:
// it must then be closed.
asio::awaitable<std::optional<std::string>> reset_server(SnapshotPtr snapshot, ServerConnection& connection,
                                                         char status);

// Whether an idle connection is still good: alive, and silent but for what a server may say at any time
// (notices, notifications, changed settings, which are noted in `connection`).
bool good_to_reuse(ServerConnection& connection);

}  // namespace sluice::router
