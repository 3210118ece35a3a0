#pragma once

#include <string>

#include "base/bytes.h"
#include "config/enums.h"
#include "net/socket_address.h"

namespace sluice::router {

// The PROXY header in front of a server connection.
struct ProxyPreamble {
  Bytes bytes{};          // empty: none is wanted
  std::string address{};  // of the client that it names, without its port; "" where it names none
};

// `local`: where the client has connected to.
ProxyPreamble proxy_preamble(config::ProxyProtocol version, const net::SocketAddress& client,
                             const net::SocketAddress& local);
// Of a connection that is nobody's but ours.
ProxyPreamble own_preamble(config::ProxyProtocol version);

}  // namespace sluice::router
