#include "router/proxy_preamble.h"

#include "protocol/proxy_header.h"

namespace sluice::router {
namespace {

protocol::ProxyEndPoint end_point(const net::SocketAddress& address) {
  return {address.address, address.port, address.is_unix};
}

}  // namespace

ProxyPreamble proxy_preamble(config::ProxyProtocol version, const net::SocketAddress& client,
                             const net::SocketAddress& local) {
  // A socket that is closed already has no address.
  if (!client.is_unix && (client.address.empty() || local.address.empty())) return own_preamble(version);
  ProxyPreamble made;
  made.address = client.is_unix ? "unix" : client.address;
  switch (version) {
    case config::ProxyProtocol::Off:
      return {};
    case config::ProxyProtocol::V1:
      protocol::append_proxy_v1(made.bytes, end_point(client), end_point(local));
      break;
    case config::ProxyProtocol::V2:
      protocol::append_proxy_v2(made.bytes, end_point(client), end_point(local));
      break;
  }
  return made;
}

ProxyPreamble own_preamble(config::ProxyProtocol version) {
  ProxyPreamble made;
  switch (version) {
    case config::ProxyProtocol::Off:
      break;
    case config::ProxyProtocol::V1:
      protocol::append_proxy_v1_unknown(made.bytes);
      break;
    case config::ProxyProtocol::V2:
      protocol::append_proxy_v2_local(made.bytes);
      break;
  }
  return made;
}

}  // namespace sluice::router
