// The functions that the linker puts in the place of the C library's and libstdc++'s (ld --wrap, see
// CMakeLists.txt): on a simulation's descriptors, and on its clock while it is alive, else the real ones.

#include <chrono>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>

#include <poll.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "tests/fakes/sim_kernel.h"

using sluice::ByteView;
using sluice::fakes::SimKernel;
using std::chrono::steady_clock;
using std::chrono::system_clock;

namespace {

SimKernel* kernel_of(int fd) noexcept {
  return SimKernel::owns(fd) ? SimKernel::current() : nullptr;
}

}  // namespace

// NOLINTBEGIN(bugprone-reserved-identifier): the linker's names
extern "C" {

#define SLUICE_REAL(result, name, ...) result __real_##name(__VA_ARGS__)

// std::chrono::_V2::steady_clock::now() and system_clock::now()
#define SLUICE_STEADY_NOW _ZNSt6chrono3_V212steady_clock3nowEv
#define SLUICE_SYSTEM_NOW _ZNSt6chrono3_V212system_clock3nowEv
#define SLUICE_JOIN_(a, b) a##b
#define SLUICE_JOIN(a, b) SLUICE_JOIN_(a, b)

steady_clock::time_point SLUICE_JOIN(__real_, SLUICE_STEADY_NOW)() noexcept;
steady_clock::time_point SLUICE_JOIN(__wrap_, SLUICE_STEADY_NOW)() noexcept {
  SimKernel* kernel = SimKernel::current();
  return kernel != nullptr ? kernel->clock().now() : SLUICE_JOIN(__real_, SLUICE_STEADY_NOW)();
}

system_clock::time_point SLUICE_JOIN(__real_, SLUICE_SYSTEM_NOW)() noexcept;
system_clock::time_point SLUICE_JOIN(__wrap_, SLUICE_SYSTEM_NOW)() noexcept {
  SimKernel* kernel = SimKernel::current();
  if (kernel == nullptr) return SLUICE_JOIN(__real_, SLUICE_SYSTEM_NOW)();
  constexpr std::chrono::hours kSomeDay(24 * 20'000);
  return system_clock::time_point(kSomeDay + kernel->clock().now().time_since_epoch());
}

SLUICE_REAL(int, socket, int, int, int);
int __wrap_socket(int domain, int type, int protocol) {
  SimKernel* kernel = SimKernel::current();
  return kernel != nullptr ? kernel->socket(domain, type) : __real_socket(domain, type, protocol);
}

SLUICE_REAL(int, bind, int, const sockaddr*, socklen_t);
int __wrap_bind(int fd, const sockaddr* address, socklen_t size) {
  SimKernel* kernel = kernel_of(fd);
  return kernel != nullptr ? kernel->bind(fd, address, size) : __real_bind(fd, address, size);
}

SLUICE_REAL(int, listen, int, int);
int __wrap_listen(int fd, int backlog) {
  SimKernel* kernel = kernel_of(fd);
  return kernel != nullptr ? kernel->listen(fd) : __real_listen(fd, backlog);
}

SLUICE_REAL(int, accept, int, sockaddr*, socklen_t*);
int __wrap_accept(int fd, sockaddr* address, socklen_t* size) {
  SimKernel* kernel = kernel_of(fd);
  return kernel != nullptr ? kernel->accept(fd, address, size) : __real_accept(fd, address, size);
}

SLUICE_REAL(int, connect, int, const sockaddr*, socklen_t);
int __wrap_connect(int fd, const sockaddr* address, socklen_t size) {
  SimKernel* kernel = kernel_of(fd);
  return kernel != nullptr ? kernel->connect(fd, address, size) : __real_connect(fd, address, size);
}

SLUICE_REAL(ssize_t, recv, int, void*, size_t, int);
ssize_t __wrap_recv(int fd, void* into, size_t size, int flags) {
  SimKernel* kernel = kernel_of(fd);
  if (kernel == nullptr) return __real_recv(fd, into, size, flags);
  return kernel->recv(fd, {static_cast<std::byte*>(into), size}, flags);
}

SLUICE_REAL(ssize_t, send, int, const void*, size_t, int);
ssize_t __wrap_send(int fd, const void* bytes, size_t size, int flags) {
  SimKernel* kernel = kernel_of(fd);
  if (kernel == nullptr) return __real_send(fd, bytes, size, flags);
  return kernel->send(fd, ByteView(static_cast<const std::byte*>(bytes), size));
}

SLUICE_REAL(int, shutdown, int, int);
int __wrap_shutdown(int fd, int how) {
  SimKernel* kernel = kernel_of(fd);
  return kernel != nullptr ? kernel->shutdown(fd, how) : __real_shutdown(fd, how);
}

SLUICE_REAL(int, close, int);
int __wrap_close(int fd) {
  SimKernel* kernel = kernel_of(fd);
  return kernel != nullptr ? kernel->close(fd) : __real_close(fd);
}

SLUICE_REAL(int, getsockopt, int, int, int, void*, socklen_t*);
int __wrap_getsockopt(int fd, int level, int name, void* value, socklen_t* size) {
  SimKernel* kernel = kernel_of(fd);
  return kernel != nullptr ? kernel->getsockopt(fd, level, name, value, size)
                           : __real_getsockopt(fd, level, name, value, size);
}

SLUICE_REAL(int, setsockopt, int, int, int, const void*, socklen_t);
int __wrap_setsockopt(int fd, int level, int name, const void* value, socklen_t size) {
  return kernel_of(fd) != nullptr ? 0 : __real_setsockopt(fd, level, name, value, size);
}

SLUICE_REAL(int, getpeername, int, sockaddr*, socklen_t*);
int __wrap_getpeername(int fd, sockaddr* address, socklen_t* size) {
  SimKernel* kernel = kernel_of(fd);
  return kernel != nullptr ? kernel->name_of(fd, address, size, true) : __real_getpeername(fd, address, size);
}

SLUICE_REAL(int, getsockname, int, sockaddr*, socklen_t*);
int __wrap_getsockname(int fd, sockaddr* address, socklen_t* size) {
  SimKernel* kernel = kernel_of(fd);
  return kernel != nullptr ? kernel->name_of(fd, address, size, false)
                           : __real_getsockname(fd, address, size);
}

// Asio asks for non-blocking mode, in which simulated sockets always are.
SLUICE_REAL(int, ioctl, int, unsigned long, ...);
int __wrap_ioctl(int fd, unsigned long request, ...) {
  if (kernel_of(fd) != nullptr) return 0;
  std::va_list arguments;
  va_start(arguments, request);
  void* argument = va_arg(arguments, void*);
  va_end(arguments);
  return __real_ioctl(fd, request, argument);
}

SLUICE_REAL(int, poll, pollfd*, nfds_t, int);
int __wrap_poll(pollfd* fds, nfds_t count, int timeout) {
  SimKernel* kernel = count > 0 ? kernel_of(fds[0].fd) : nullptr;
  return kernel != nullptr ? kernel->poll(fds, count) : __real_poll(fds, count, timeout);
}

SLUICE_REAL(int, epoll_ctl, int, int, int, epoll_event*);
int __wrap_epoll_ctl(int epoll_fd, int operation, int fd, epoll_event* event) {
  SimKernel* kernel = kernel_of(fd);
  return kernel != nullptr ? kernel->epoll_ctl(epoll_fd, operation, fd, event)
                           : __real_epoll_ctl(epoll_fd, operation, fd, event);
}

SLUICE_REAL(int, epoll_wait, int, epoll_event*, int, int);
int __wrap_epoll_wait(int epoll_fd, epoll_event* events, int count, int timeout) {
  SimKernel* kernel = SimKernel::current();
  if (kernel == nullptr) return __real_epoll_wait(epoll_fd, events, count, timeout);
  if (timeout != 0) {
    std::fputs("in a simulation nobody waits: run the event loop by poll() alone\n", stderr);
    std::abort();
  }
  const int given = kernel->epoll_wait(epoll_fd, events, count);
  const int real = given < count ? __real_epoll_wait(epoll_fd, events + given, count - given, 0) : 0;
  return given + (real > 0 ? real : 0);
}

SLUICE_REAL(int, timerfd_create, int, int);
int __wrap_timerfd_create(int clock, int flags) {
  SimKernel* kernel = SimKernel::current();
  return kernel != nullptr ? kernel->timerfd_create() : __real_timerfd_create(clock, flags);
}

SLUICE_REAL(int, timerfd_settime, int, int, const itimerspec*, itimerspec*);
int __wrap_timerfd_settime(int fd, int flags, const itimerspec* value, itimerspec* old) {
  SimKernel* kernel = kernel_of(fd);
  return kernel != nullptr ? kernel->timerfd_settime(fd, flags, value)
                           : __real_timerfd_settime(fd, flags, value, old);
}

}  // extern "C"
// NOLINTEND(bugprone-reserved-identifier)
