#pragma once

#include <string>
#include <vector>

#include "net/socket_address.h"
#include "router/admission.h"
#include "router/client_login.h"
#include "router/server_login.h"
#include "router/snapshot.h"

namespace sluice::router {

// The ways to log in to a server for this client, best first: as the user itself, then as server_user where
// that is configured, for servers that want a proof the first has not. At least one. `database` is the
// server's name for it. Start-up parameters are the client's own, without those of Sluice and those to be
// ignored.
std::vector<ServerRequest> server_requests(const Snapshot& snapshot, const ClientIdentity& identity,
                                           ServerId server, const std::string& database,
                                           const SessionTag& tag, const net::SocketAddress& peer);

// Equal for two requests exactly when they come to the same server in the same way: at the same address and
// with the same demand for TLS (a reload may change both), and where the server is told the client's address,
// from the same one. `snapshot` has the server.
std::string way_key(const Snapshot& snapshot, const ServerRequest& request);

// Equal for two requests exactly when their connections are interchangeable: same way_key(), same parameters
// in the same order, hence same user, database and settings.
std::string pool_key(const Snapshot& snapshot, const ServerRequest& request);

}  // namespace sluice::router
