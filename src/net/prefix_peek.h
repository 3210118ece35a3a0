#pragma once

#include <cstddef>

#include <asio/awaitable.hpp>

#include "base/result.h"
#include "net/stream.h"

namespace sluice::net {

// The first byte of a connection, left in place for whoever reads next. Waits for it without a timeout: see
// Deadline. BaseErrc::Closed when the other side closes without a byte.
asio::awaitable<Result<std::byte>> peek_first_byte(Stream& stream);

// A TLS record that carries a handshake: the client starts TLS without an SSLRequest (PostgreSQL 17's
// sslnegotiation=direct).
inline constexpr std::byte kTlsHandshakeRecord{0x16};

}  // namespace sluice::net
