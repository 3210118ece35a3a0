#pragma once

#include <cstdint>
#include <string>

namespace sluice::net {

// One end of a connection as text. TCP: a numeric address in its canonical form, an IPv4-mapped IPv6 address
// as IPv4, no zone brackets or port. Unix: is_unix, the path (often empty for a client), port 0.
struct SocketAddress {
  std::string address;
  std::uint16_t port = 0;
  bool is_unix = false;
  friend bool operator==(const SocketAddress&, const SocketAddress&) = default;
};

// Empty address when the socket is closed or no longer connected.
SocketAddress peer_address(int fd);
SocketAddress local_address(int fd);

// "10.0.0.1:5432", "[::1]:5432", "unix:/run/.s.PGSQL.5432", "unix".
std::string to_string(const SocketAddress& address);

}  // namespace sluice::net
