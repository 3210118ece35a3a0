#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sluice::net {

// One end of a connection as text. TCP: a numeric address in its canonical form, an IPv4-mapped IPv6 address
// as IPv4, no zone brackets or port. Unix: is_unix, the path or '@' and the abstract name (often empty for a
// client), port 0.
struct SocketAddress {
  std::string address;
  std::uint16_t port = 0;
  bool is_unix = false;
  friend bool operator==(const SocketAddress&, const SocketAddress&) = default;
};

// How configurations tell a Unix socket from a host: a path, or '@' and an abstract name, as in libpq.
inline bool is_unix_address(std::string_view text) noexcept {
  return text.starts_with('/') || text.starts_with('@');
}
// The name as the kernel wants it: an abstract one begins with a zero byte.
std::string unix_name(std::string_view text);

// Empty address when the socket is closed or no longer connected.
SocketAddress peer_address(int fd);
SocketAddress local_address(int fd);

// "10.0.0.1:5432", "[::1]:5432", "unix:/run/.s.PGSQL.5432", "unix".
std::string to_string(const SocketAddress& address);

}  // namespace sluice::net
