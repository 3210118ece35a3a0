#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>

#include "base/bytes.h"
#include "tests/fakes/sim_clock.h"
#include "tests/fakes/sim_network.h"

namespace sluice::fakes {

// The system calls of Linux's sockets, edge-triggered epoll and timerfd, on a SimNetwork and a SimClock.
// sim_calls.cc puts it in the place of the C library's functions, so Asio's reactor and everything above it
// run on it as they are. What it gives out are numbers far above real descriptors. Results as the real calls:
// -1 with errno. One thread.
class SimKernel {
 public:
  SimKernel(SimClock& clock, SimNetwork& network) : clock_(clock), network_(network) {}
  SimKernel(const SimKernel&) = delete;
  SimKernel& operator=(const SimKernel&) = delete;

  // Of the simulation that is alive; null outside of one, when calls go to the real kernel.
  static SimKernel* current() noexcept;
  static bool owns(int fd) noexcept { return fd >= kFirst; }
  SimClock& clock() noexcept { return clock_; }

  // Failures. The call with that number, counted from 1 over all that can fail, fails as a real one might:
  // socket, accept (out of descriptors), connect, recv, send (reset), epoll_ctl (out of watches).
  void fail_call(std::uint64_t number) noexcept { fail_at_ = number; }
  std::uint64_t calls() const noexcept { return calls_; }
  const std::string& failed_call() const noexcept { return failed_; }  // "" while none has failed

  // Descriptors in use, listening ones not counted.
  std::size_t open_sockets() const noexcept;
  // Something to be told by epoll_wait now; and when a timer will have something.
  bool has_ready() const noexcept;
  SimClock::TimePoint next_timer() const noexcept;

  int socket(int domain, int type);
  int bind(int fd, const sockaddr* address, socklen_t size);
  int listen(int fd);
  int accept(int fd, sockaddr* address, socklen_t* size);
  int connect(int fd, const sockaddr* address, socklen_t size);
  ssize_t recv(int fd, std::span<std::byte> into, int flags);
  ssize_t send(int fd, ByteView bytes);
  int shutdown(int fd, int how);
  int close(int fd);
  int getsockopt(int fd, int level, int name, void* value, socklen_t* size);
  int name_of(int fd, sockaddr* address, socklen_t* size, bool peer);
  int poll(pollfd* fds, nfds_t count);

  int epoll_ctl(int epoll_fd, int operation, int fd, const epoll_event* event);
  int epoll_wait(int epoll_fd, epoll_event* events, int count);
  int timerfd_create();
  int timerfd_settime(int fd, int flags, const itimerspec* value);

 private:
  friend class Simulation;
  static constexpr int kFirst = 1 << 24;

  struct Watch {
    int epoll_fd = -1;
    epoll_event event{};
    bool queued = false;  // in ready_
  };
  struct Socket {
    enum class Kind { Fresh, Listening, Connecting, Connected, Failed };
    Kind kind = Kind::Fresh;
    Address local{};
    SimConnection* connection = nullptr;
    std::deque<SimConnection*> backlog{};
    int error = 0;  // to be told once
    bool send_ended = false;
    bool wants_room = false;  // a send would have blocked
    Watch watch{};
  };
  struct Timer {
    SimClock::TimePoint expiry = SimClock::TimePoint::max();
    Watch watch{};
  };

  bool fails(std::string_view call, int error);
  int fail(int error) noexcept;
  Socket* find(int fd);
  int add(Socket socket);
  // Lets what happens on the connection reach the socket, if it is still there.
  void attach(int fd, SimConnection& connection);
  void detach(SimConnection& connection);
  std::uint32_t state_of(const Socket& socket) const;
  void changed(int fd);
  void lose(Socket& socket);

  SimClock& clock_;
  SimNetwork& network_;
  std::map<int, Socket> sockets_;
  std::map<int, Timer> timers_;
  std::deque<int> ready_;  // sockets on which something has changed
  int next_fd_ = kFirst;
  std::uint16_t next_port_ = 40'000;
  std::uint64_t calls_ = 0;
  std::uint64_t fail_at_ = 0;
  std::string failed_;
};

}  // namespace sluice::fakes
