#pragma once

#include <optional>

#include <asio/awaitable.hpp>

#include "net/stream.h"
#include "protocol/error_response.h"
#include "protocol/startup_packet.h"
#include "router/shared.h"
#include "router/snapshot.h"

namespace sluice::router {

// Lets a server judge a client: relays the authentication messages between the client and a connection of its
// own to a live server, which serves nothing else, counts as no load, and is closed afterwards. Channel
// binding is not offered: it would bind to our certificate, not the server's. Under the caller's deadline,
// which closes `client`. Gives nothing when the server accepted the client, else what the client is to be
// told.
asio::awaitable<std::optional<protocol::ErrorFields>> relay_authentication(
    Shared& shared, SnapshotPtr snapshot, net::Stream& client, const protocol::StartupMessage& startup);

}  // namespace sluice::router
