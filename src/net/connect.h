#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include <asio/awaitable.hpp>

#include "base/result.h"
#include "net/socket_address.h"
#include "net/socket_options.h"
#include "net/stream.h"

namespace sluice::net {

// Where a PostgreSQL server listens: a host name or numeric address; or, beginning with '/', libpq's
// directory of the socket .s.PGSQL.<port>, which is the full path of the socket when port is 0. With '@' in
// front, the same among abstract names.
struct ConnectTarget {
  std::string host{};
  std::uint16_t port = 5432;

  bool is_unix() const noexcept { return is_unix_address(host); }
  std::string unix_path() const;
  friend bool operator==(const ConnectTarget&, const ConnectTarget&) = default;
};

// Opens a connection on the calling coroutine's executor. A name's addresses are tried in order; each gets an
// equal share of the time that is left, so that one that swallows packets does not hide the next. `timeout`
// covers everything, names included. Errors: side Server, retry Yes; BaseErrc::Timeout, BaseErrc::Cancelled,
// NetErrc, or the last address's system error.
asio::awaitable<Result<Stream>> connect(ConnectTarget target, std::chrono::milliseconds timeout,
                                        SocketOptions options);

}  // namespace sluice::net
