#include "net/tcp_round_trip.h"

#include <cstddef>

#include <linux/tcp.h>  // the C library's netinet/tcp.h, which Asio includes, ends before tcpi_min_rtt
#include <netinet/in.h>
#include <sys/socket.h>

namespace sluice::net {

std::optional<TcpRoundTrip> tcp_round_trip(int fd) noexcept {
  tcp_info info{};
  socklen_t size = sizeof info;
  if (::getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return std::nullopt;
  constexpr std::size_t kNeeded = offsetof(tcp_info, tcpi_min_rtt) + sizeof info.tcpi_min_rtt;
  if (size < kNeeded || info.tcpi_rtt == 0) return std::nullopt;
  return TcpRoundTrip{std::chrono::microseconds(info.tcpi_rtt), std::chrono::microseconds(info.tcpi_min_rtt)};
}

}  // namespace sluice::net
