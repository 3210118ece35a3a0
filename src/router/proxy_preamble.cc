#include "router/proxy_preamble.h"

#include "protocol/proxy_header.h"

namespace sluice::router {
namespace {

protocol::ProxyEndPoint end_point(const net::SocketAddress& address) {
  return {address.address, address.port, address.is_unix};
}

bool known(const ClientPlace& place) {
  return place.client.is_unix || (!place.client.address.empty() && !place.local.address.empty());
}

}  // namespace

std::string ClientPlace::key() const {
  if (!known(*this)) return "";
  return client.is_unix ? "unix" : client.address;
}

Bytes proxy_preamble(config::ProxyProtocol version, const std::optional<ClientPlace>& place) {
  const bool ours = !place || !known(*place);
  Bytes made;
  switch (version) {
    case config::ProxyProtocol::Off:
      break;
    case config::ProxyProtocol::V1:
      if (ours) {
        protocol::append_proxy_v1_unknown(made);
      } else {
        protocol::append_proxy_v1(made, end_point(place->client), end_point(place->local));
      }
      break;
    case config::ProxyProtocol::V2:
      if (ours) {
        protocol::append_proxy_v2_local(made);
      } else {
        protocol::append_proxy_v2(made, end_point(place->client), end_point(place->local));
      }
      break;
  }
  return made;
}

}  // namespace sluice::router
