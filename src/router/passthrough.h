#pragma once

#include <chrono>
#include <optional>

#include <asio/awaitable.hpp>

#include "base/bytes.h"
#include "net/stream.h"
#include "protocol/error_response.h"
#include "protocol/startup_packet.h"
#include "router/proxy_preamble.h"
#include "router/shared.h"
#include "router/snapshot.h"

namespace sluice::router {

// Lets a server judge a client: relays the authentication messages between the client and a connection of its
// own to a live server, which serves nothing else, counts as no load, and is closed afterwards. Channel
// binding is not offered: it would bind to our certificate, not the server's. Another server is asked where
// one cannot be reached or does not begin to answer; one that falls silent later, for server_connect_timeout,
// or is lost, ends the authentication. At most `timeout` altogether. `place` is told to
// servers that want it. `secure`: nobody can listen on the client's way here, so that its password may go in
// cleartext. `pipelined`: what the client has already sent behind its StartupMessage; on return, what it has
// sent behind its part of the authentication. Gives nothing when the server accepted the client, else what
// the client is to be told.
asio::awaitable<std::optional<protocol::ErrorFields>> relay_authentication(
    Shared& shared, SnapshotPtr snapshot, net::Stream& client, bool secure,
    const protocol::StartupMessage& startup, std::chrono::steady_clock::duration timeout, Bytes& pipelined,
    ClientPlace place);

}  // namespace sluice::router
