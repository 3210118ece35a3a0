#pragma once

#include <memory>
#include <optional>
#include <string>

#include <asio/awaitable.hpp>

#include "net/socket_address.h"
#include "net/stream.h"
#include "protocol/client_login.h"
#include "protocol/startup_options.h"
#include "router/proxy_origin.h"
#include "router/server_connection.h"
#include "router/shared.h"
#include "router/snapshot.h"
#include "telemetry/metrics.h"

namespace sluice::router {

// A client that proved who it is.
struct ClientIdentity {
  protocol::StartupMessage startup;  // without what it asks of Sluice itself
  protocol::SluiceOptions asked;     // that: sluice.priority and the like
  protocol::AuthMethod method = protocol::AuthMethod::Reject;
  protocol::ServerCredentials credentials;  // what logs in to servers as this user; may be empty
  std::string certificate_name;             // of a verified client certificate
  bool tls = false;
  net::SocketAddress local{};  // where it has connected to
  Bytes output;                // AuthenticationOk and what comes before it, still to be sent
  Bytes unread;                // sent by the client behind its start-up
};

// What a connection turned out to be.
struct Arrived {
  std::optional<ClientIdentity> client;
  std::optional<protocol::CancelRequest> cancel;
  Origin origin{};  // as a proxy told it, or the socket's other end
  // Both empty: the connection is over, and the client was told why where PostgreSQL would have told it.
};

enum class Takes { Everything, CancelsAlone };

// Takes a connection from its first byte to a proven user or a CancelRequest, within client_login_timeout.
// `listener` is the name of the listener that accepted it; where that takes cancels alone, a login is
// refused.
asio::awaitable<Arrived> receive_client(Shared& shared, telemetry::ThreadMetrics& metrics,
                                        SnapshotPtr snapshot, net::Stream& stream, net::SocketAddress peer,
                                        std::string listener, Takes takes);

}  // namespace sluice::router
