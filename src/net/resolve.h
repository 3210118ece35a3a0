#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <asio/awaitable.hpp>
#include <asio/ip/tcp.hpp>

#include "base/result.h"

namespace sluice::net {

// The addresses of a host in the order the system's resolver gives; never empty. A numeric address is not
// looked up. Runs getaddrinfo on a thread of its own, so a dead name server holds up neither other lookups
// nor the end of the program; at most kLookupsMax at a time in the process, then NetErrc::TooManyLookups.
// BaseErrc::Timeout after `timeout`.
inline constexpr int kLookupsMax = 64;
asio::awaitable<Result<std::vector<asio::ip::tcp::endpoint>>> resolve(std::string host, std::uint16_t port,
                                                                      std::chrono::milliseconds timeout);

}  // namespace sluice::net
