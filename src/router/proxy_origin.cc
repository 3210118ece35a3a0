#include "router/proxy_origin.h"

#include <algorithm>
#include <array>
#include <utility>

#include <asio/experimental/as_tuple.hpp>
#include <asio/use_awaitable.hpp>

#include "base/error.h"
#include "config/network.h"
#include "net/net_error.h"
#include "protocol/proxy_header.h"

namespace sluice::router {
namespace {

constexpr std::size_t kPeekBytes = 256;

config::Address address_of(const net::SocketAddress& address) {
  if (address.is_unix) return config::unix_address();
  return config::parse_address(address.address).value_or(config::Address{});
}

}  // namespace

bool expects_proxy_header(const Snapshot& snapshot, const std::string& listener,
                          const net::SocketAddress& peer) {
  const auto& listeners = snapshot.config->listeners;
  const auto found = std::find_if(listeners.begin(), listeners.end(),
                                  [&](const config::Listener& each) { return each.name == listener; });
  return found != listeners.end() && !found->proxy_from.empty() &&
         config::contains_any(found->proxy_from, address_of(peer));
}

// Looked at first and then taken, as much as belongs to the header: what comes behind may be TLS, which reads
// from the socket itself.
asio::awaitable<Origin> receive_proxy_header(net::Stream& stream, net::SocketAddress peer) {
  Origin origin{std::move(peer), false, {}};
  protocol::ProxyHeaderDecoder decoder;
  std::array<std::byte, kPeekBytes> room{};
  while (!decoder.done()) {
    const net::IoOutcome seen = stream.try_peek(room);
    if (seen.status == net::IoStatus::WouldBlock) {
      const auto [ec] =
          co_await stream.async_wait_readable(asio::experimental::as_tuple(asio::use_awaitable));
      if (ec) origin.error = net::from_io(ec, Side::Client).code;
    } else if (seen.status != net::IoStatus::Ok) {
      origin.error = seen.status == net::IoStatus::Eof ? make_error_code(BaseErrc::Closed) : seen.error;
    } else {
      const auto taken = decoder.feed(ByteView(room).first(seen.bytes));
      if (!taken) {
        origin.error = taken.error().code;
      } else if (stream.try_read(std::span(room).first(*taken)).bytes != *taken) {
        origin.error = make_error_code(BaseErrc::Closed);
      }
    }
    if (origin.error) co_return origin;
  }
  const protocol::ProxyHeader& header = decoder.header();
  if (header.command == protocol::ProxyHeader::Command::Local) co_return origin;
  origin.proxied = true;
  net::SocketAddress source{header.source.address, header.source.port, header.source.is_unix};
  if (!config::is_loopback(address_of(source)) || config::is_loopback(address_of(origin.address)))
    origin.address = std::move(source);
  co_return origin;
}

}  // namespace sluice::router
