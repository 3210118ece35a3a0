#include "net/ring.h"

#include <array>
#include <cerrno>
#include <utility>

#include <asio/error.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/steady_timer.hpp>
#include <liburing.h>
#include <poll.h>
#include <sys/mman.h>

#include "base/assert.h"
#include "net/event_wait.h"
#include "net/stream.h"

namespace sluice::net {
namespace {

constexpr unsigned kSubmissions = 256;
constexpr unsigned kCompletions = 4096;
constexpr int kBufferGroup = 0;
// Of Linux 6.15, unknown to older headers: a thread that waits here is idle, and not counted as waiting for a
// disk.
constexpr unsigned kFeatureNoIowait = 1U << 17;
constexpr unsigned kEnterNoIowait = 1U << 7;

}  // namespace

struct Ring::Impl final : EventWait {
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
  // Hands in what was asked for and collects what has come, once; what comes meanwhile is for the next wait.
  void run();
  bool due() const;
  void complete(const io_uring_cqe& completion);

  asio::executor_work_guard<asio::io_context::executor_type>
      running;  // the loop is not out of work while there is a ring
  BufferPool& buffers;
  io_uring ring{};
  bool ring_made = false;
  io_uring_buf_ring* provided = nullptr;
  std::array<PooledBuffer, kBuffers> slots;
  int loop = -1;                 // the epoll descriptor of the event loop, once it has waited here
  bool loop_watched = false;     // the kernel is to say when that has events
  std::vector<RingPort*> turns;  // ports to be called, see RingPort::call_soon
  std::size_t ports = 0;
};

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

int Ring::Impl::wait(int epoll, epoll_event* events, int room, int timeout_ms) {
  if (loop < 0) loop = epoll;
  const bool nothing_here = ports == 0 && !loop_watched && io_uring_sq_ready(&ring) == 0 && !due();
  if (loop != epoll || nothing_here) return ::epoll_wait(epoll, events, room, timeout_ms);
  if (timeout_ms != 0 && turns.empty()) block(epoll, timeout_ms);
  run();
  return loop_watched ? 0 : ::epoll_wait(epoll, events, room, 0);
}

// Hands in what was asked for, and then one call waits and receives what came.
void Ring::Impl::block(int epoll, int timeout_ms) {
  if (!loop_watched) {
    io_uring_sqe& entry = request();
    io_uring_prep_poll_add(&entry, epoll, POLLIN);
    io_uring_sqe_set_data(&entry, &loop_watched);
    loop_watched = true;
  }
  if (timeout_ms < 0) {
    if (io_uring_sq_ready(&ring) > 0) io_uring_submit(&ring);
    const unsigned no_iowait = (ring.features & kFeatureNoIowait) != 0 ? kEnterNoIowait : 0;
    io_uring_enter(static_cast<unsigned>(ring.ring_fd), 0, 1, IORING_ENTER_GETEVENTS | no_iowait, nullptr);
    return;
  }
  __kernel_timespec limit{timeout_ms / 1000, timeout_ms % 1000 * 1'000'000};
  io_uring_cqe* completion = nullptr;
  io_uring_submit_and_wait_timeout(&ring, &completion, 1, &limit, nullptr);
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

RingPort::RingPort(Ring& ring, int fd) : ring_(*ring.impl_), fd_(fd) {
  ++ring_.ports;
}

RingPort::~RingPort() {
  SLUICE_ASSERT(!receiving_.pending && !waiting_.pending && !turn_due_);
  --ring_.ports;
}

void RingPort::receive(OnReceive handler) {
  SLUICE_ASSERT(!on_receive_ && !closing_);
  on_receive_ = std::move(handler);
  if (!unasked_.empty() || end_) return call_soon();
  if (!receiving_.pending) start(receiving_);
}

void RingPort::wait_writable(OnWritable handler) {
  SLUICE_ASSERT(!on_writable_ && !closing_);
  on_writable_ = std::move(handler);
  start(waiting_);
}

void RingPort::close(OnClosed done) {
  SLUICE_ASSERT(!closing_);
  closing_ = true;
  on_receive_ = nullptr;
  on_writable_ = nullptr;
  on_closed_ = std::move(done);
  for (Operation* operation : {&receiving_, &waiting_})
    if (operation->pending) cancel(*operation);
  if (!receiving_.pending && !waiting_.pending) call_soon();
}

std::optional<RingPort::Received> RingPort::take_unasked() {
  if (unasked_.empty()) return std::nullopt;
  Received first = std::move(unasked_.front());
  unasked_.erase(unasked_.begin());
  return first;
}

void RingPort::start(Operation& operation) {
  io_uring_sqe& entry = ring_.request();
  if (&operation == &receiving_) {
    if (bulk_) {
      io_uring_prep_recv(&entry, fd_, nullptr, 0, 0);
    } else {
      io_uring_prep_recv_multishot(&entry, fd_, nullptr, 0, 0);
    }
    entry.flags |= IOSQE_BUFFER_SELECT;
    entry.buf_group = kBufferGroup;
  } else {
    io_uring_prep_poll_add(&entry, fd_, POLLOUT);
  }
  io_uring_sqe_set_data(&entry, &operation);
  operation.pending = true;
  operation.cancelled = false;
}

void RingPort::cancel(Operation& operation) {
  if (std::exchange(operation.cancelled, true)) return;
  io_uring_sqe& entry = ring_.request();
  io_uring_prep_cancel(&entry, &operation, 0);
  io_uring_sqe_set_data(&entry, nullptr);
}

void RingPort::call_soon() {
  if (std::exchange(turn_due_, true)) return;
  ring_.turns.push_back(this);
}

void RingPort::turn() {
  turn_due_ = false;
  if (closing_) {
    // Due since before close(): the kernel's last word comes with completed().
    if (receiving_.pending || waiting_.pending) return;
    if (const OnClosed done = std::exchange(on_closed_, nullptr)) done();  // which may destroy the port
    return;
  }
  if (!on_receive_) return;
  const OnReceive handler = std::exchange(on_receive_, nullptr);
  if (std::optional<Received> next = take_unasked()) {
    handler(std::error_code(), std::move(next->buffer), next->count);
  } else {
    handler(end_, PooledBuffer(), 0);
  }
}

void RingPort::completed(Operation& operation, std::int32_t result, bool more, PooledBuffer buffer) {
  operation.pending = more;
  if (&operation == &receiving_) received(result, std::move(buffer));
  if (closing_) {
    if (!receiving_.pending && !waiting_.pending) call_soon();
    return;
  }
  if (&operation == &waiting_ && on_writable_) {
    const OnWritable handler = std::exchange(on_writable_, nullptr);
    handler(result < 0 ? std::error_code(-result, std::system_category()) : std::error_code());
  }
}

void RingPort::received(std::int32_t result, PooledBuffer buffer) {
  if (result > 0) {
    const auto count = static_cast<std::size_t>(result);
    bulk_ = count == buffer.span().size();
    if (bulk_ && receiving_.pending) cancel(receiving_);
    if (on_receive_ && unasked_.empty()) {
      const OnReceive handler = std::exchange(on_receive_, nullptr);
      handler(std::error_code(), std::move(buffer), count);
    } else {
      unasked_.push_back({std::move(buffer), count});
    }
  } else if (result == 0) {
    end_ = asio::error::eof;
  } else if (result != -ENOBUFS && result != -ECANCELED) {
    end_ = std::error_code(-result, std::system_category());
  }
  if (closing_) return;
  if (!on_receive_) {
    // Nobody asks: what comes is to stay in the socket, where it holds the other side back.
    if (receiving_.pending) cancel(receiving_);
  } else if (!unasked_.empty() || end_) {
    call_soon();
  } else if (!receiving_.pending) {
    start(receiving_);
  }
}

void move_to_ring(Ring& ring, Stream& stream, std::optional<RingPort>& port) {
  if (stream.tls() == nullptr && stream.park()) port.emplace(ring, stream.native_handle());
}

void leave_ring(std::optional<RingPort>& port, Stream& stream) {
  if (!port) return;
  port.reset();
  if (!stream.unpark()) stream.close();
}

}  // namespace sluice::net
