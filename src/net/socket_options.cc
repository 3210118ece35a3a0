#include "net/socket_options.h"

#include <algorithm>
#include <climits>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

namespace sluice::net {
namespace {

void set(int fd, int level, int name, int value) noexcept {
  ::setsockopt(fd, level, name, &value, sizeof value);
}

void set_if_given(int fd, int name, std::chrono::milliseconds::rep value) noexcept {
  if (value > 0) set(fd, IPPROTO_TCP, name, static_cast<int>(std::min<decltype(value)>(value, INT_MAX)));
}

}  // namespace

void apply_socket_options(int fd, const SocketOptions& options) noexcept {
  int domain = 0;
  socklen_t size = sizeof domain;
  if (::getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) != 0 || domain == AF_UNIX) return;
  set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  set(fd, SOL_SOCKET, SO_KEEPALIVE, options.keepalive ? 1 : 0);
  set_if_given(fd, TCP_KEEPIDLE, options.keepalive_idle.count());
  set_if_given(fd, TCP_KEEPINTVL, options.keepalive_interval.count());
  set_if_given(fd, TCP_KEEPCNT, options.keepalive_count);
  set_if_given(fd, TCP_USER_TIMEOUT, options.user_timeout.count());
}

}  // namespace sluice::net
