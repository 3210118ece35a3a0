#include "config/network.h"

#include <algorithm>
#include <cstring>

#include <arpa/inet.h>

namespace sluice::config {
namespace {

constexpr std::size_t kIpv4Offset = 12;  // of a.b.c.d in ::ffff:a.b.c.d
constexpr unsigned kIpv4PrefixBits = 96;

struct ParsedIp {
  std::array<std::uint8_t, 16> ip{};
  bool is_ipv4 = false;  // as written, or mapped
};

// inet_pton takes no leading zeros, no short forms and no blanks: what it accepts means one address
// everywhere.
std::optional<ParsedIp> parse_ip(std::string_view text) {
  std::array<char, INET6_ADDRSTRLEN> terminated{};
  if (text.size() >= terminated.size()) return std::nullopt;
  std::copy(text.begin(), text.end(), terminated.begin());
  if (std::strlen(terminated.data()) != text.size()) return std::nullopt;
  ParsedIp parsed;
  if (inet_pton(AF_INET, terminated.data(), parsed.ip.data() + kIpv4Offset) == 1) {
    parsed.ip[10] = parsed.ip[11] = 0xff;
    parsed.is_ipv4 = true;
    return parsed;
  }
  if (inet_pton(AF_INET6, terminated.data(), parsed.ip.data()) != 1) return std::nullopt;
  return parsed;
}

bool is_mapped(const std::array<std::uint8_t, 16>& ip) {
  return std::all_of(ip.begin(), ip.begin() + 10, [](std::uint8_t b) { return b == 0; }) && ip[10] == 0xff &&
         ip[11] == 0xff;
}

// Of bits [from, 128) none is set.
bool zero_from(const std::array<std::uint8_t, 16>& ip, unsigned from) {
  for (unsigned bit = from; bit < 128; ++bit)
    if ((ip[bit / 8] >> (7 - bit % 8)) & 1) return false;
  return true;
}

bool same_prefix(const std::array<std::uint8_t, 16>& a, const std::array<std::uint8_t, 16>& b,
                 unsigned bits) {
  const unsigned whole = bits / 8;
  if (!std::equal(a.begin(), a.begin() + whole, b.begin())) return false;
  if (bits % 8 == 0) return true;
  const unsigned shift = 8 - bits % 8;
  return (a[whole] >> shift) == (b[whole] >> shift);
}

}  // namespace

std::optional<Address> parse_address(std::string_view text) {
  const std::optional<ParsedIp> parsed = parse_ip(text.substr(0, text.find('%')));
  if (!parsed) return std::nullopt;
  return Address{.is_unix = false, .ip = parsed->ip};
}

bool is_loopback(const Address& address) {
  static const Networks loopback = {*parse_network("127.0.0.0/8"), *parse_network("::1")};
  return address.is_unix || contains_any(loopback, address);
}

std::optional<Network> parse_network(std::string_view text) {
  if (text == "unix") return Network{.is_unix = true, .ip = {}, .prefix_bits = 0};
  const std::size_t slash = text.find('/');
  const std::optional<ParsedIp> parsed = parse_ip(text.substr(0, slash));
  if (!parsed) return std::nullopt;
  const unsigned bits_max = parsed->is_ipv4 ? 32 : 128;
  unsigned bits = bits_max;
  if (slash != text.npos) {
    const std::string_view digits = text.substr(slash + 1);
    if (digits.empty() || digits.size() > 3) return std::nullopt;
    bits = 0;
    for (const char digit : digits) {
      if (digit < '0' || digit > '9') return std::nullopt;
      bits = bits * 10 + static_cast<unsigned>(digit - '0');
    }
    if (bits > bits_max) return std::nullopt;
  }
  if (parsed->is_ipv4) bits += kIpv4PrefixBits;
  if (!zero_from(parsed->ip, bits)) return std::nullopt;
  return Network{.is_unix = false, .ip = parsed->ip, .prefix_bits = static_cast<std::uint8_t>(bits)};
}

std::string to_string(const Network& network) {
  if (network.is_unix) return "unix";
  std::array<char, INET6_ADDRSTRLEN> text{};
  const bool as_ipv4 = network.prefix_bits >= kIpv4PrefixBits && is_mapped(network.ip);
  const char* const printed =
      as_ipv4 ? inet_ntop(AF_INET, network.ip.data() + kIpv4Offset, text.data(), text.size())
              : inet_ntop(AF_INET6, network.ip.data(), text.data(), text.size());
  if (printed == nullptr) return "?";
  const unsigned bits = network.prefix_bits - (as_ipv4 ? kIpv4PrefixBits : 0U);
  if (bits == (as_ipv4 ? 32U : 128U)) return printed;
  return std::string(printed) + "/" + std::to_string(bits);
}

bool contains(const Network& network, const Address& address) {
  if (network.is_unix || address.is_unix) return network.is_unix && address.is_unix;
  // ::/0 means IPv6 alone, as 0.0.0.0/0 means IPv4 alone: an IPv4 client is never in a shorter IPv6 network.
  if (network.prefix_bits < kIpv4PrefixBits && is_mapped(address.ip)) return false;
  return same_prefix(network.ip, address.ip, network.prefix_bits);
}

bool contains_any(const Networks& networks, const Address& address) {
  return std::any_of(networks.begin(), networks.end(),
                     [&](const Network& network) { return contains(network, address); });
}

bool is_loopback(const Network& network) {
  if (network.is_unix) return true;
  const bool inside_ipv4 = network.prefix_bits >= kIpv4PrefixBits + 8;
  const bool inside_ipv6 = network.prefix_bits == 128;
  return (inside_ipv4 || inside_ipv6) && is_loopback(Address{.is_unix = false, .ip = network.ip});
}

}  // namespace sluice::config
