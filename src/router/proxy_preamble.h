#pragma once

#include <optional>
#include <string>

#include "base/bytes.h"
#include "config/enums.h"
#include "net/socket_address.h"

namespace sluice::router {

// Where a client is, for servers that are told so by a PROXY header.
struct ClientPlace {
  net::SocketAddress client{};  // empty where its socket is closed already
  net::SocketAddress local{};   // where it has connected to

  // Equal for clients that may have the same connection, which says for its whole life where its client is.
  std::string key() const;
};

// The header in front of a server connection; empty where none is wanted. Without a place the connection is
// nobody's but ours.
Bytes proxy_preamble(config::ProxyProtocol version, const std::optional<ClientPlace>& place);

}  // namespace sluice::router
