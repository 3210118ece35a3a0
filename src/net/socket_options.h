#pragma once

#include <chrono>

namespace sluice::net {

// What is asked of a TCP connection. 0 leaves the operating system's value. TCP_NODELAY is always set.
struct SocketOptions {
  bool keepalive = true;
  std::chrono::seconds keepalive_idle{0};
  std::chrono::seconds keepalive_interval{0};
  int keepalive_count = 0;
  std::chrono::milliseconds user_timeout{0};  // TCP_USER_TIMEOUT: how long sent data may stay unacknowledged
};

// Sets them on a TCP socket, connected or listening (Linux lets accepted sockets inherit them); Unix sockets
// are left alone. An option that the kernel refuses is skipped: a connection without it works.
void apply_socket_options(int fd, const SocketOptions& options) noexcept;

}  // namespace sluice::net
