#include "tests/fakes/sim_kernel.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <arpa/inet.h>
#include <netinet/in.h>

namespace sluice::fakes {
namespace {

Address address_of(const sockaddr* address, socklen_t size) {
  sockaddr_in v4{};
  if (size < sizeof v4 || address->sa_family != AF_INET) return {};
  std::memcpy(&v4, address, sizeof v4);
  char text[INET_ADDRSTRLEN] = {};
  ::inet_ntop(AF_INET, &v4.sin_addr, text, sizeof text);
  return {text, ntohs(v4.sin_port)};
}

void give(const Address& from, sockaddr* address, socklen_t* size) {
  if (address == nullptr || size == nullptr) return;
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  v4.sin_port = htons(from.port);
  ::inet_pton(AF_INET, from.host.c_str(), &v4.sin_addr);
  std::memcpy(address, &v4, std::min<std::size_t>(*size, sizeof v4));
  *size = sizeof v4;
}

}  // namespace

int SimKernel::fail(int error) noexcept {
  errno = error;
  return -1;
}

bool SimKernel::fails(std::string_view call, int error) {
  if (++calls_ != fail_at_) return false;
  failed_ = call;
  errno = error;
  return true;
}

SimKernel::Socket* SimKernel::find(int fd) {
  const auto found = sockets_.find(fd);
  return found == sockets_.end() ? nullptr : &found->second;
}

int SimKernel::add(Socket socket) {
  sockets_.emplace(next_fd_, std::move(socket));
  return next_fd_++;
}

std::size_t SimKernel::open_sockets() const noexcept {
  return static_cast<std::size_t>(std::count_if(sockets_.begin(), sockets_.end(), [](const auto& entry) {
    return entry.second.kind != Socket::Kind::Listening;
  }));
}

int SimKernel::socket(int domain, int type) {
  if (domain != AF_INET || (type & 0xF) != SOCK_STREAM) return fail(EAFNOSUPPORT);
  if (fails("socket", EMFILE)) return -1;
  return add({});
}

int SimKernel::bind(int fd, const sockaddr* address, socklen_t size) {
  Socket* socket = find(fd);
  if (socket == nullptr) return fail(EBADF);
  socket->local = address_of(address, size);
  if (socket->local.port == 0) socket->local.port = next_port_++;
  return 0;
}

int SimKernel::listen(int fd) {
  Socket* socket = find(fd);
  if (socket == nullptr) return fail(EBADF);
  const bool done = network_.listen(socket->local, [this, fd](SimConnection& connection) {
    Socket* listener = find(fd);
    if (listener == nullptr) return connection.reset_peer();
    listener->backlog.push_back(&connection);
    changed(fd);
  });
  if (!done) return fail(EADDRINUSE);
  socket->kind = Socket::Kind::Listening;
  return 0;
}

int SimKernel::accept(int fd, sockaddr* address, socklen_t* size) {
  Socket* listener = find(fd);
  if (listener == nullptr) return fail(EBADF);
  if (listener->backlog.empty()) return fail(EAGAIN);
  if (fails("accept", EMFILE)) return -1;
  SimConnection& connection = *listener->backlog.front();
  listener->backlog.pop_front();
  Socket accepted;
  accepted.kind = Socket::Kind::Connected;
  accepted.local = listener->local;
  const int made = add(std::move(accepted));
  connection.accepted = true;
  attach(made, connection);
  give(connection.peer_address, address, size);
  return made;
}

int SimKernel::connect(int fd, const sockaddr* address, socklen_t size) {
  Socket* socket = find(fd);
  if (socket == nullptr) return fail(EBADF);
  if (socket->kind == Socket::Kind::Connecting) return fail(EALREADY);
  if (socket->kind != Socket::Kind::Fresh) return fail(EISCONN);
  if (fails("connect", ENETUNREACH)) return -1;
  socket->local = {"10.0.0.100", next_port_++};
  socket->kind = Socket::Kind::Connecting;
  network_.dial(socket->local, address_of(address, size), [this, fd](int error, SimConnection* connection) {
    Socket* connecting = find(fd);
    if (connecting == nullptr) {
      if (connection != nullptr) connection->reset_peer();
      return;
    }
    connecting->kind = error == 0 ? Socket::Kind::Connected : Socket::Kind::Failed;
    connecting->error = error;
    if (connection != nullptr) attach(fd, *connection);
    changed(fd);
  });
  return fail(EINPROGRESS);
}

void SimKernel::attach(int fd, SimConnection& connection) {
  Socket* socket = find(fd);
  socket->connection = &connection;
  if (connection.code_was_reset) socket->error = ECONNRESET;
  connection.to_code.on_arrival = [this, fd] { changed(fd); };
  connection.to_peer.on_room = [this, fd] {
    Socket* sender = find(fd);
    if (sender != nullptr && std::exchange(sender->wants_room, false)) changed(fd);
  };
  connection.on_code_reset = [this, fd] {
    if (Socket* end = find(fd)) end->error = ECONNRESET;
    changed(fd);
  };
}

// What comes for a descriptor that is closed is answered by the system.
void SimKernel::detach(SimConnection& connection) {
  connection.to_peer.on_room = nullptr;
  connection.on_code_reset = nullptr;
  connection.to_code.on_arrival = [&connection] {
    if (!connection.to_code.read_all().empty()) connection.reset_peer();
  };
}

ssize_t SimKernel::recv(int fd, std::span<std::byte> into, int flags) {
  Socket* socket = find(fd);
  if (socket == nullptr) return fail(EBADF);
  if (socket->connection == nullptr) return fail(ENOTCONN);
  if (fails("recv", ECONNRESET)) {
    lose(*socket);
    return fail(ECONNRESET);
  }
  SimConnection& connection = *socket->connection;
  const std::size_t count = connection.to_code.read(into, (flags & MSG_PEEK) != 0);
  if (count > 0 || into.empty()) return static_cast<ssize_t>(count);
  if (socket->error != 0) return fail(std::exchange(socket->error, 0));
  if (connection.code_was_reset || connection.to_code.ended()) return 0;
  return fail(EAGAIN);
}

ssize_t SimKernel::send(int fd, ByteView bytes) {
  Socket* socket = find(fd);
  if (socket == nullptr) return fail(EBADF);
  if (socket->connection == nullptr) return fail(ENOTCONN);
  if (fails("send", ECONNRESET)) {
    lose(*socket);
    return fail(ECONNRESET);
  }
  if (socket->error != 0) return fail(std::exchange(socket->error, 0));
  if (socket->send_ended || socket->connection->code_was_reset) return fail(EPIPE);
  const std::size_t count = socket->connection->to_peer.write(bytes);
  if (count < bytes.size()) socket->wants_room = true;
  if (count == 0 && !bytes.empty()) return fail(EAGAIN);
  return static_cast<ssize_t>(count);
}

// The connection breaks under a call.
void SimKernel::lose(Socket& socket) {
  if (!std::exchange(socket.connection->code_was_reset, true)) socket.connection->reset_peer();
  socket.error = 0;
}

int SimKernel::shutdown(int fd, int how) {
  Socket* socket = find(fd);
  if (socket == nullptr) return fail(EBADF);
  if (socket->connection == nullptr || socket->connection->code_was_reset) return fail(ENOTCONN);
  if (how != SHUT_WR) return fail(EINVAL);
  if (!std::exchange(socket->send_ended, true)) socket->connection->to_peer.finish();
  changed(fd);
  return 0;
}

int SimKernel::close(int fd) {
  if (timers_.erase(fd) > 0) return 0;
  Socket* found = find(fd);
  if (found == nullptr) return fail(EBADF);
  const Socket socket = std::move(*found);
  sockets_.erase(fd);
  if (socket.kind == Socket::Kind::Listening) {
    network_.unlisten(socket.local);
    for (SimConnection* waiting : socket.backlog)
      waiting->reset_peer();
  }
  if (socket.connection == nullptr || socket.connection->code_was_reset) return 0;
  SimConnection& connection = *socket.connection;
  detach(connection);
  if (connection.to_code.available() > 0) {
    connection.reset_peer();
  } else if (!socket.send_ended) {
    connection.to_peer.finish();
  }
  return 0;
}

int SimKernel::getsockopt(int fd, int level, int name, void* value, socklen_t* size) {
  Socket* socket = find(fd);
  if (socket == nullptr) return fail(EBADF);
  int number = 0;
  if (level == SOL_SOCKET && name == SO_ERROR) {
    number = std::exchange(socket->error, 0);
  } else if (level == SOL_SOCKET && name == SO_DOMAIN) {
    number = AF_INET;
  } else if (level == SOL_SOCKET && name == SO_TYPE) {
    number = SOCK_STREAM;
  } else {
    return fail(ENOPROTOOPT);
  }
  if (*size < sizeof number) return fail(EINVAL);
  std::memcpy(value, &number, sizeof number);
  *size = sizeof number;
  return 0;
}

int SimKernel::name_of(int fd, sockaddr* address, socklen_t* size, bool peer) {
  Socket* socket = find(fd);
  if (socket == nullptr) return fail(EBADF);
  if (peer && (socket->connection == nullptr || socket->connection->code_was_reset)) return fail(ENOTCONN);
  give(peer ? socket->connection->peer_address : socket->local, address, size);
  return 0;
}

std::uint32_t SimKernel::state_of(const Socket& socket) const {
  std::uint32_t state = 0;
  const auto when = [&state](bool condition, std::uint32_t events) { state |= condition ? events : 0; };
  switch (socket.kind) {
    case Socket::Kind::Fresh:
      return EPOLLOUT | EPOLLHUP;
    case Socket::Kind::Connecting:
      return 0;
    case Socket::Kind::Listening:
      return socket.backlog.empty() ? 0U : EPOLLIN;
    case Socket::Kind::Failed:
      return EPOLLIN | EPOLLOUT | EPOLLHUP | EPOLLERR;
    case Socket::Kind::Connected:
      break;
  }
  const SimConnection& connection = *socket.connection;
  const bool lost = connection.code_was_reset || socket.error != 0;
  when(connection.to_code.available() > 0 || connection.to_code.ended() || lost, EPOLLIN);
  when(connection.to_peer.room() > 0 || socket.send_ended || lost, EPOLLOUT);
  when(connection.to_code.ended() || lost, EPOLLRDHUP);
  when((connection.to_code.ended() && socket.send_ended) || lost, EPOLLHUP);
  when(socket.error != 0, EPOLLERR);
  return state;
}

int SimKernel::poll(pollfd* fds, nfds_t count) {
  int ready = 0;
  for (pollfd* each = fds; each != fds + count; ++each) {
    Socket* socket = find(each->fd);
    // The bits of poll and epoll are the same.
    const std::uint32_t state = socket == nullptr ? POLLNVAL : state_of(*socket);
    const auto asked = static_cast<std::uint32_t>(each->events) | POLLERR | POLLHUP | POLLNVAL;
    each->revents = static_cast<short>(state & asked);
    if (each->revents != 0) ++ready;
  }
  return ready;
}

void SimKernel::changed(int fd) {
  Socket* socket = find(fd);
  if (socket == nullptr || socket->watch.epoll_fd < 0 || std::exchange(socket->watch.queued, true)) return;
  ready_.push_back(fd);
}

int SimKernel::epoll_ctl(int epoll_fd, int operation, int fd, const epoll_event* event) {
  Watch* watch = nullptr;
  if (Socket* socket = find(fd)) watch = &socket->watch;
  if (const auto timer = timers_.find(fd); timer != timers_.end()) watch = &timer->second.watch;
  if (watch == nullptr) return fail(EBADF);
  if (operation == EPOLL_CTL_DEL) {
    watch->epoll_fd = -1;
    return 0;
  }
  if (operation == EPOLL_CTL_ADD && find(fd) != nullptr && fails("epoll_ctl", ENOSPC)) return -1;
  watch->epoll_fd = epoll_fd;
  watch->event = *event;
  changed(fd);
  return 0;
}

int SimKernel::epoll_wait(int epoll_fd, epoll_event* events, int count) {
  int given = 0;
  for (const auto& [fd, timer] : timers_)
    if (given < count && timer.watch.epoll_fd == epoll_fd && timer.expiry <= clock_.peek())
      events[given++] = {EPOLLIN, timer.watch.event.data};
  for (std::size_t left = ready_.size(); left > 0 && given < count; --left) {
    const int fd = ready_.front();
    ready_.pop_front();
    Socket* socket = find(fd);
    if (socket == nullptr) continue;
    if (socket->watch.epoll_fd != epoll_fd && socket->watch.epoll_fd >= 0) {
      ready_.push_back(fd);
      continue;
    }
    socket->watch.queued = false;
    const std::uint32_t asked = socket->watch.event.events | EPOLLERR | EPOLLHUP;
    const std::uint32_t state = state_of(*socket) & asked;
    if (state != 0 && socket->watch.epoll_fd >= 0) events[given++] = {state, socket->watch.event.data};
  }
  return given;
}

bool SimKernel::has_ready() const noexcept {
  return !ready_.empty() || next_timer() <= clock_.peek();
}

SimClock::TimePoint SimKernel::next_timer() const noexcept {
  SimClock::TimePoint first = SimClock::TimePoint::max();
  for (const auto& [fd, timer] : timers_)
    first = std::min(first, timer.expiry);
  return first;
}

int SimKernel::timerfd_create() {
  timers_.emplace(next_fd_, Timer{});
  return next_fd_++;
}

int SimKernel::timerfd_settime(int fd, int flags, const itimerspec* value) {
  const auto found = timers_.find(fd);
  if (found == timers_.end()) return fail(EBADF);
  const auto given =
      std::chrono::seconds(value->it_value.tv_sec) + std::chrono::nanoseconds(value->it_value.tv_nsec);
  const bool disarmed = given == std::chrono::nanoseconds::zero();
  const bool absolute = (flags & TFD_TIMER_ABSTIME) != 0;
  found->second.expiry = disarmed   ? SimClock::TimePoint::max()
                         : absolute ? SimClock::TimePoint(given)
                                    : clock_.peek() + given;
  return 0;
}

}  // namespace sluice::fakes
