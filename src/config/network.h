#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::config {

// Where a client comes from: an IP address, or a Unix socket.
struct Address {
  bool is_unix = false;
  std::array<std::uint8_t, 16> ip{};  // IPv4 as ::ffff:a.b.c.d; zeros for a Unix socket

  friend bool operator==(const Address&, const Address&) = default;
};

// "10.0.0.1", "::1", "::ffff:10.0.0.1" (the same as 10.0.0.1), an IPv6 address with a zone ("fe80::1%eth0":
// the zone is dropped). nullopt for anything else.
std::optional<Address> parse_address(std::string_view text);
inline Address unix_address() {
  return Address{.is_unix = true, .ip = {}};
}
bool is_loopback(const Address&);  // 127.0.0.0/8, ::1, Unix sockets

// A range of addresses in CIDR notation, or all Unix sockets.
struct Network {
  bool is_unix = false;
  std::array<std::uint8_t, 16> ip{};  // bits behind the prefix are zero
  std::uint8_t prefix_bits = 0;       // 0..128, counted in the IPv6 form: 10.0.0.0/8 has 104

  friend bool operator==(const Network&, const Network&) = default;
};
using Networks = std::vector<Network>;

// "10.0.0.0/8", "10.0.0.1" (= /32), "fd00::/8", "unix". nullopt if it is none of these or has bits set behind
// the prefix (10.0.0.1/8 is more often a mistake than meant).
std::optional<Network> parse_network(std::string_view text);
std::string to_string(const Network&);
bool contains(const Network&, const Address&);
bool contains_any(const Networks&, const Address&);
bool is_loopback(const Network&);  // nothing in it is beyond loopback

}  // namespace sluice::config
