#include "net/doorbell.h"

#include <cerrno>
#include <utility>

#include <asio/detail/reactor.hpp>
#include <asio/detail/reactor_op.hpp>
#include <asio/version.hpp>
#include <sys/eventfd.h>
#include <unistd.h>

namespace sluice::net {

// Asio's public operations on a descriptor either arm it again or read it. This one belongs to the reactor
// like theirs and says of each event "done, and nothing more to be had", so that the next wait is but a list
// entry.
static_assert(ASIO_VERSION / 100 == 1022,
              "net/doorbell uses the reactor of Asio 1.22: compare its start_op()");

struct Doorbell::Watch : asio::detail::reactor_op {
  Watch(asio::detail::reactor& r, std::function<void()> f)
      : reactor_op(std::error_code(), &perform_one, &complete_one), reactor(r), rung(std::move(f)) {}

  void start() {
    waiting = true;
    constexpr bool kContinuation = true;
    constexpr bool kSpeculative = true;  // which the status below makes it forgo, arming included
    reactor.start_op(asio::detail::reactor::read_op, fd, data, this, kContinuation, kSpeculative);
  }
  static status perform_one(reactor_op*) { return done_and_exhausted; }
  static void complete_one(void* owner, asio::detail::operation* base, const std::error_code&, std::size_t) {
    auto* self = static_cast<Watch*>(base);
    self->waiting = false;
    if (owner != nullptr && !self->closed) {
      self->running = true;
      self->rung();
      self->running = false;
      if (!self->closed) return self->start();
    }
    delete self;
  }

  asio::detail::reactor& reactor;
  std::function<void()> rung;
  int fd = -1;
  asio::detail::reactor::per_descriptor_data data{};
  bool waiting = false;  // the reactor has it
  bool running = false;
  bool closed = false;
};

std::unique_ptr<Doorbell> Doorbell::open(asio::io_context& io, std::function<void()> rung,
                                         std::error_code& why) {
  const int fd = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (fd < 0) {
    why.assign(errno, std::system_category());
    return nullptr;
  }
  auto& reactor = asio::use_service<asio::detail::reactor>(io);
  reactor.init_task();
  auto watch = std::make_unique<Watch>(reactor, std::move(rung));
  watch->fd = fd;
  if (const int failed = reactor.register_descriptor(fd, watch->data); failed != 0) {
    reactor.cleanup_descriptor_data(watch->data);
    ::close(fd);
    why.assign(failed, std::system_category());
    return nullptr;
  }
  watch->start();
  return std::unique_ptr<Doorbell>(new Doorbell(fd, watch.release()));
}

Doorbell::~Doorbell() {
  watch_->closed = true;
  watch_->reactor.deregister_descriptor(fd_, watch_->data, false);
  watch_->reactor.cleanup_descriptor_data(watch_->data);
  ::close(fd_);
  // A watch that the reactor has, or that is completing, is freed there.
  if (!watch_->waiting && !watch_->running) delete watch_;
}

}  // namespace sluice::net
