#pragma once

#include <functional>
#include <memory>
#include <system_error>

#include <asio/io_context.hpp>

namespace sluice::net {

// An eventfd that wakes the event loop at no system call but the wait itself: it stays armed, edge-triggered,
// and is never read, since each write to it is an edge however high its count stands. Asio's own wait on a
// descriptor arms it anew each time. Source: eventfd(2), epoll(7). Thread: the event loop's, which outlives
// it.
class Doorbell {
 public:
  // `rung` is called from the event loop after one or more rings, and once without any; not after the
  // destructor. Null, with the reason, when the process is out of descriptors.
  static std::unique_ptr<Doorbell> open(asio::io_context& io, std::function<void()> rung,
                                        std::error_code& why);
  Doorbell(const Doorbell&) = delete;
  Doorbell& operator=(const Doorbell&) = delete;
  ~Doorbell();

  // To be written to, by the kernel or by any thread.
  int fd() const noexcept { return fd_; }

 private:
  struct Watch;
  Doorbell(int fd, Watch* watch) : fd_(fd), watch_(watch) {}

  const int fd_;
  Watch* const watch_;  // freed with the reactor's last word on it
};

}  // namespace sluice::net
