#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace sluice::net {

// The kernel's view of the way to the other end (TCP_INFO).
struct TcpRoundTrip {
  // Of all samples lately. Holds delayed acknowledgements: a peer that has nothing to send waits up to 40 ms
  // (Linux) before it acknowledges one segment, or until its next request takes the acknowledgement along.
  std::chrono::microseconds smoothed;
  std::chrono::microseconds deviation;  // mean deviation of the same samples
  // The least over the kernel's window (net.ipv4.tcp_min_rtt_wlen, five minutes unless set otherwise). The
  // kernel keeps acknowledgements that may have been delayed out of it, and the handshake's, which never
  // waits, is in it.
  std::chrono::microseconds minimum;
  // Segments of ours that the other end has acknowledged so far: where it has not moved since the last look,
  // nothing was measured since.
  std::uint32_t acknowledged;
};

// nullopt for Unix sockets, closed ones, and before the first measurement. One system call: for a timer, not
// per message.
std::optional<TcpRoundTrip> tcp_round_trip(int fd) noexcept;

}  // namespace sluice::net
