#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/bytes.h"
#include "base/result.h"

namespace sluice::protocol {

// The PROXY protocol: what a proxy writes in front of the first byte of a connection, so that the one behind
// it knows where the connection came from.
// Source: HAProxy, "The PROXY protocol, Versions 1 & 2", 2020/03/05, sections 2.1 and 2.2.

inline constexpr std::size_t kProxyV1BytesMax = 107;    // with its line end
inline constexpr std::size_t kProxyV2HeaderBytes = 16;  // before the addresses
// Of version 2, addresses and TLVs together. The format allows 65,535; the specification asks receivers for
// 520 at least, and what is in use stays far below this.
inline constexpr std::size_t kProxyV2BodyBytesMax = 4096;

struct ProxyEndPoint {
  std::string address{};  // numeric, canonical; of a Unix socket its path, "@name" for an abstract one, or ""
  std::uint16_t port = 0;
  bool is_unix = false;
  friend bool operator==(const ProxyEndPoint&, const ProxyEndPoint&) = default;
};

struct ProxyHeader {
  enum class Command {
    Proxied,  // the connection is source's, to destination
    Local,    // the proxy's own (a health check), or it does not know: the connection's own addresses hold
  };
  Command command = Command::Local;
  ProxyEndPoint source{}, destination{};  // of Proxied
  friend bool operator==(const ProxyHeader&, const ProxyHeader&) = default;
};

// Reads one header off the front of a connection and takes no byte behind it. Either version is taken; TLVs
// are passed over. Errors: ProtocolErrc::MalformedMessage for anything else, also for the other families and
// for datagrams,
//         MessageTooLong above the limits above. The decoder is dead then. O(bytes), at most
//         kProxyV2HeaderBytes + kProxyV2BodyBytesMax of them; keeps at most 232.
class ProxyHeaderDecoder {
 public:
  // How many bytes at the front of `bytes`, not empty, belong to the header; they are the decoder's now.
  Result<std::size_t> feed(ByteView bytes);
  bool done() const noexcept { return state_ == State::Done; }
  const ProxyHeader& header() const noexcept { return header_; }  // once done()

 private:
  enum class State { Start, Line, Binary, Body, Done, Dead };

  bool feed_byte(std::byte value);
  Result<void> end_of_line();
  Result<void> end_of_binary_header();
  bool read_addresses();

  State state_ = State::Start;
  ProxyHeader header_;
  Bytes kept_;                  // of the line, or of the binary header and the addresses behind it
  std::size_t body_bytes_ = 0;  // of version 2, as announced
  std::size_t body_taken_ = 0;
};

// One of each, where the families differ: IPv4 as IPv6. A Unix socket on either side is written as UNKNOWN in
// version 1, and in version 2 as AF_UNIX if both are.
void append_proxy_v1(Bytes& out, const ProxyEndPoint& source, const ProxyEndPoint& destination);
void append_proxy_v2(Bytes& out, const ProxyEndPoint& source, const ProxyEndPoint& destination);
// The proxy's own connection.
void append_proxy_v1_unknown(Bytes& out);
void append_proxy_v2_local(Bytes& out);

}  // namespace sluice::protocol
