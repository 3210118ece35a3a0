#pragma once

#include <chrono>
#include <optional>

namespace sluice::net {

// The kernel's view of the way to the other end (TCP_INFO).
struct TcpRoundTrip {
  std::chrono::microseconds smoothed;
  std::chrono::microseconds minimum;  // over the kernel's window, five minutes unless set otherwise
};

// nullopt for Unix sockets, closed ones, and before the first measurement. One system call: for a timer, not
// per message.
std::optional<TcpRoundTrip> tcp_round_trip(int fd) noexcept;

}  // namespace sluice::net
