#pragma once

#include <optional>
#include <string>
#include <system_error>

#include <asio/awaitable.hpp>

#include "net/socket_address.h"
#include "net/stream.h"
#include "router/snapshot.h"

namespace sluice::router {

// Where a connection comes from.
struct Origin {
  net::SocketAddress address;
  bool proxied = false;   // the socket's other end is not the client
  std::error_code error;  // no PROXY header where there must be one: the connection is to be closed
};

// Whether the listener of that name expects a PROXY header from `peer`.
bool expects_proxy_header(const Snapshot& snapshot, const std::string& listener,
                          const net::SocketAddress& peer);

// Reads the header, and not a byte behind it. No timeout of its own: see Deadline.
// What a proxy says of its own machine (loopback, a Unix socket) holds where it is this machine too; from
// another one it says no more than that the connection is the proxy's: rules that trust this machine do not
// mean those who are on that.
asio::awaitable<Origin> receive_proxy_header(net::Stream& stream, net::SocketAddress peer);

}  // namespace sluice::router
