// Of ring.cc and ring_port.cc alone.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <system_error>
#include <vector>

#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <liburing.h>

#include "net/buffer_pool.h"
#include "net/event_wait.h"
#include "net/ring.h"

namespace sluice::net {

// How completions name what they are of: an operation by its address, a send by its port's and a bit.
inline std::uint64_t send_of(RingPort* port) noexcept {
  return reinterpret_cast<std::uintptr_t>(port) | 1U;
}
inline bool is_send(std::uint64_t name) noexcept {
  return (name & 1U) != 0;
}
inline RingPort* port_of_send(std::uint64_t name) noexcept {
  return reinterpret_cast<RingPort*>(name & ~std::uint64_t{1});
}

struct Ring::Impl final : EventWait {
  static constexpr int kBufferGroup = 0;

  Impl(asio::io_context& io, BufferPool& pool) : running(io.get_executor()), buffers(pool) {
    const asio::steady_timer has_reactor(
        io);  // a loop without any timer or socket would not wait in its reactor
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl();

  // Waits for the ring, and for the event loop by way of it.
  int wait(int epoll, epoll_event* events, int room, int timeout_ms) override;

  std::error_code set_up();
  void provide(unsigned slot);
  io_uring_sqe& request();
  void block(int epoll, int timeout_ms);
  void submit_and_wait(const __kernel_timespec* limit);
  void settle();
  // Memory for `count` bytes to send; empty when there is none left.
  std::span<std::byte> take_outgoing(std::size_t count);
  // Hands in what was asked for and collects what has come, once; what comes meanwhile is for the next wait.
  void run();
  bool due() const;
  void complete(const io_uring_cqe& completion);

  asio::executor_work_guard<asio::io_context::executor_type>
      running;  // the loop is not out of work while there is a ring
  BufferPool& buffers;
  io_uring ring{};
  bool ring_made = false;
  bool ring_registered = false;  // with the thread
  io_uring_buf_ring* provided = nullptr;
  std::array<PooledBuffer, kBuffers> slots;
  // What ports are to send, and which do. Used anew once all of that is known to be done.
  static constexpr std::size_t kOutgoingBytes = 64 * 1024;
  const std::unique_ptr<std::byte[]> outgoing = std::make_unique_for_overwrite<std::byte[]>(kOutgoingBytes);
  std::size_t outgoing_used = 0;
  std::vector<RingPort*> sending;
  std::vector<RingPort*> settling;
  bool attention = false;        // something is to be done as soon as they are
  int loop = -1;                 // the epoll descriptor of the event loop, once it has waited here
  bool loop_watched = false;     // the kernel is to say when that has events
  std::vector<RingPort*> turns;  // ports to be called, see RingPort::call_soon
  std::size_t ports = 0;
};

}  // namespace sluice::net
