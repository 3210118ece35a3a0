#include <cerrno>
#include <utility>

#include <asio/steady_timer.hpp>
#include <poll.h>
#include <sys/mman.h>

#include "base/assert.h"
#include "net/ring_impl.h"
#include "net/stream.h"

namespace sluice::net {
namespace {

constexpr unsigned kSubmissions = 256;
constexpr unsigned kCompletions = 4096;
// Of Linux 6.15, unknown to older headers: a thread that waits here is idle, and not counted as waiting for a
// disk.
constexpr unsigned kFeatureNoIowait = 1U << 17;
constexpr unsigned kEnterNoIowait = 1U << 7;

}  // namespace

Ring::Impl::~Impl() {
  SLUICE_ASSERT(ports == 0);
  if (event_wait_of_this_thread() == this) event_wait_of_this_thread() = nullptr;
  if (!ring_made) return;
  io_uring_queue_exit(&ring);
  if (provided != nullptr) ::munmap(provided, kBuffers * sizeof(io_uring_buf));
}

std::error_code Ring::Impl::set_up() {
  io_uring_params parameters{};
  // What came is received by one call of ours for all sockets. Done whenever our thread enters the kernel
  // instead (IORING_SETUP_COOP_TASKRUN), it would interrupt the wait of the event loop each time. The kernel
  // sets a flag while something waits, which is how peeking knows whether to call.
  parameters.flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_TASKRUN_FLAG |
                     IORING_SETUP_CQSIZE;
  parameters.cq_entries = kCompletions;
  if (const int failed = io_uring_queue_init_params(kSubmissions, &ring, &parameters); failed < 0)
    return {-failed, std::system_category()};
  ring_made = true;
  ring_registered = io_uring_register_ring_fd(&ring) == 1;
  void* memory = ::mmap(nullptr, kBuffers * sizeof(io_uring_buf), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return {errno, std::system_category()};
  provided = static_cast<io_uring_buf_ring*>(memory);
  io_uring_buf_reg registration{};
  registration.ring_addr = reinterpret_cast<std::uintptr_t>(memory);
  registration.ring_entries = kBuffers;
  registration.bgid = kBufferGroup;
  if (const int failed = io_uring_register_buf_ring(&ring, &registration, 0); failed < 0)
    return {-failed, std::system_category()};
  io_uring_buf_ring_init(provided);
  for (unsigned slot = 0; slot < kBuffers; ++slot)
    provide(slot);
  SLUICE_ASSERT(event_wait_of_this_thread() == nullptr);
  event_wait_of_this_thread() = this;
  return {};
}

void Ring::Impl::provide(unsigned slot) {
  slots[slot] = buffers.take();
  const std::span<std::byte> room = slots[slot].span();
  io_uring_buf_ring_add(provided, room.data(), static_cast<unsigned>(room.size()),
                        static_cast<unsigned short>(slot), io_uring_buf_ring_mask(kBuffers), 0);
  io_uring_buf_ring_advance(provided, 1);
}

io_uring_sqe& Ring::Impl::request() {
  io_uring_sqe* entry = io_uring_get_sqe(&ring);
  if (entry == nullptr) {
    io_uring_submit(&ring);
    entry = io_uring_get_sqe(&ring);
  }
  SLUICE_ASSERT(entry != nullptr);
  return *entry;
}

// Each send that was handed in is done by then (MSG_DONTWAIT), and those that failed or were cut short have
// said so, in the queue of completions; all others sent everything.
void Ring::Impl::settle() {
  attention = false;
  if (sending.empty()) return;
  if (io_uring_sq_ready(&ring) > 0 || (IO_URING_READ_ONCE(*ring.sq.kflags) & IORING_SQ_CQ_OVERFLOW) != 0) {
    attention = true;  // the kernel had no room for all of them, or for all that they say
    return;
  }
  unsigned head = 0;
  io_uring_cqe* completion = nullptr;
  io_uring_for_each_cqe(&ring, head, completion) {
    if (!is_send(completion->user_data)) continue;
    port_of_send(completion->user_data)->send_result_ = completion->res;
    completion->user_data = 0;
  }
  settling.swap(sending);
  for (RingPort* port : settling)
    port->sent();
  settling.clear();
}

std::span<std::byte> Ring::Impl::take_outgoing(std::size_t count) {
  if (sending.empty() && settling.empty()) outgoing_used = 0;
  if (count > kOutgoingBytes - outgoing_used) return {};
  const std::span<std::byte> room(outgoing.get() + outgoing_used, count);
  outgoing_used += count;
  return room;
}

int Ring::Impl::wait(int epoll, epoll_event* events, int room, int timeout_ms) {
  if (loop < 0) loop = epoll;
  const bool nothing_here = ports == 0 && !loop_watched && io_uring_sq_ready(&ring) == 0 && !due();
  if (loop != epoll || nothing_here) return ::epoll_wait(epoll, events, room, timeout_ms);
  if (timeout_ms != 0 && turns.empty()) block(epoll, timeout_ms);
  run();
  return loop_watched ? 0 : ::epoll_wait(epoll, events, room, 0);
}

void Ring::Impl::block(int epoll, int timeout_ms) {
  if (!loop_watched) {
    io_uring_sqe& entry = request();
    io_uring_prep_poll_add(&entry, epoll, POLLIN);
    io_uring_sqe_set_data(&entry, &loop_watched);
    loop_watched = true;
  }
  if (timeout_ms < 0) return submit_and_wait(nullptr);
  const __kernel_timespec limit{timeout_ms / 1000, timeout_ms % 1000 * 1'000'000};
  submit_and_wait(&limit);
}

// Hands in what was asked for and waits: one system call for a turn of all sockets. Not liburing's own, which
// cannot say that the wait is none for a disk.
void Ring::Impl::submit_and_wait(const __kernel_timespec* limit) {
  ring.sq.sqe_head = ring.sq.sqe_tail;
  io_uring_smp_store_release(ring.sq.ktail, ring.sq.sqe_tail);
  unsigned flags = IORING_ENTER_GETEVENTS;
  if ((ring.features & kFeatureNoIowait) != 0) flags |= kEnterNoIowait;
  if (ring_registered) flags |= IORING_ENTER_REGISTERED_RING;
  const auto fd = static_cast<unsigned>(ring_registered ? ring.enter_ring_fd : ring.ring_fd);
  const unsigned wanted = attention ? 0 : 1;
  io_uring_getevents_arg argument{};
  argument.ts = reinterpret_cast<std::uintptr_t>(limit);
  if (limit != nullptr) flags |= IORING_ENTER_EXT_ARG;
  io_uring_enter2(fd, io_uring_sq_ready(&ring), wanted, flags,
                  limit != nullptr ? reinterpret_cast<sigset_t*>(&argument) : nullptr,
                  limit != nullptr ? sizeof(argument) : 0);
}

bool Ring::Impl::due() const {
  constexpr unsigned kKernelHasMore = IORING_SQ_TASKRUN | IORING_SQ_CQ_OVERFLOW;
  return io_uring_cq_ready(&ring) > 0 || !turns.empty() ||
         (IO_URING_READ_ONCE(*ring.sq.kflags) & kKernelHasMore) != 0;
}

// What has come by now, once: what handlers post, such as slots for those who wait, has its turn before what
// comes meanwhile.
void Ring::Impl::run() {
  if (io_uring_sq_ready(&ring) > 0) io_uring_submit(&ring);
  settle();
  io_uring_cqe* completion = nullptr;
  // io_uring_peek_cqe() also fetches what the kernel had no room for, which nothing else does. Each entry is
  // given back before it is looked at: handlers make system calls, and those fill the queue again.
  for (unsigned count = 0; count < kBuffers && io_uring_peek_cqe(&ring, &completion) == 0; ++count) {
    const io_uring_cqe copy = *completion;
    io_uring_cqe_seen(&ring, completion);
    complete(copy);
  }
  for (RingPort* port : std::exchange(turns, {}))
    port->turn();
}

void Ring::Impl::complete(const io_uring_cqe& completion) {
  PooledBuffer buffer;
  if ((completion.flags & IORING_CQE_F_BUFFER) != 0) {
    const unsigned slot = completion.flags >> IORING_CQE_BUFFER_SHIFT;
    SLUICE_ASSERT(slot < kBuffers);
    buffer = std::move(slots[slot]);
    provide(slot);
  }
  if (is_send(completion.user_data)) {  // settle() could not see it yet
    port_of_send(completion.user_data)->send_result_ = completion.res;
    return;
  }
  void* const what = io_uring_cqe_get_data(&completion);
  if (what == nullptr) return;  // a cancellation's own answer
  if (what == &loop_watched) {
    loop_watched = false;
    return;
  }
  auto* const operation = static_cast<RingPort::Operation*>(what);
  operation->port->completed(*operation, completion.res, (completion.flags & IORING_CQE_F_MORE) != 0,
                             std::move(buffer));
}

Ring::Ring(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Ring::~Ring() = default;

std::unique_ptr<Ring> Ring::open(asio::io_context& io, BufferPool& buffers, std::error_code& why) {
  auto impl = std::make_unique<Impl>(io, buffers);
  why = impl->set_up();
  if (why) return nullptr;
  return std::unique_ptr<Ring>(new Ring(std::move(impl)));
}

void move_to_ring(Ring& ring, Stream& stream, std::optional<RingPort>& port) {
  if (stream.tls() == nullptr && stream.park()) port.emplace(ring, stream.native_handle());
}

void leave_ring(std::optional<RingPort>& port, Stream& stream) {
  if (!port) return;
  const bool all_sent = !port->send_failed() && port->take_unsent().empty();
  port.reset();
  if (!all_sent || !stream.unpark()) stream.close();
}

}  // namespace sluice::net
