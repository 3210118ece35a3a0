#include "net/tcp_round_trip.h"

#include <cstddef>
#include <limits>

#include <linux/tcp.h>  // the C library's netinet/tcp.h, which Asio includes, ends before tcpi_min_rtt
#include <netinet/in.h>
#include <sys/socket.h>

namespace sluice::net {

std::optional<TcpRoundTrip> tcp_round_trip(int fd) noexcept {
  tcp_info info{};
  socklen_t size = sizeof info;
  if (::getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return std::nullopt;
  // Older kernels give less.
  constexpr std::size_t kNeeded = offsetof(tcp_info, tcpi_delivered) + sizeof info.tcpi_delivered;
  if (size < kNeeded || info.tcpi_rtt == 0) return std::nullopt;
  // All ones until the first sample; a connection whose handshake went by a SYN cookie begins so.
  if (info.tcpi_min_rtt == std::numeric_limits<decltype(info.tcpi_min_rtt)>::max()) return std::nullopt;
  return TcpRoundTrip{std::chrono::microseconds(info.tcpi_rtt), std::chrono::microseconds(info.tcpi_rttvar),
                      std::chrono::microseconds(info.tcpi_min_rtt), info.tcpi_delivered};
}

}  // namespace sluice::net
