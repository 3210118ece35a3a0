#include <algorithm>
#include <cerrno>
#include <span>
#include <utility>

#include <asio/error.hpp>
#include <poll.h>
#include <sys/socket.h>

#include "base/assert.h"
#include "net/ring_impl.h"
#include "net/send_now.h"
#include "net/stream.h"

namespace sluice::net {

RingPort::RingPort(Ring& ring, int fd) : ring_(*ring.impl_), fd_(fd) {
  ++ring_.ports;
}

RingPort::~RingPort() {
  SLUICE_ASSERT(!busy() && !turn_due_);
  --ring_.ports;
}

void RingPort::receive(OnReceive handler) {
  SLUICE_ASSERT(!on_receive_ && !closing_);
  on_receive_ = std::move(handler);
  if (!unasked_.empty() || end_) return call_soon();
  if (!receiving_.pending) start(receiving_);
}

IoOutcome RingPort::try_send(ByteView bytes) {
  if (bytes.empty()) return IoOutcome::ok(0);
  if (closing_) return IoOutcome::failed(asio::error::operation_aborted);
  if (send_failed()) return IoOutcome::failed({send_error_, std::system_category()});
  if (sending_) {
    attend();
    if (rest_.size() + bytes.size() > kQueueBytes) return IoOutcome::would_block(IoWant::Write);
    append(rest_, bytes);
    return IoOutcome::ok(bytes.size());
  }
  if (!rest_.empty()) return IoOutcome::would_block(IoWant::Write);
  const std::span<std::byte> room =
      bytes.size() <= kSendBytes ? ring_.take_outgoing(bytes.size()) : std::span<std::byte>();
  if (room.empty()) return send_now(fd_, bytes.first(std::min(bytes.size(), Stream::kAttemptBytesMax)));
  std::copy(bytes.begin(), bytes.end(), room.begin());
  outgoing_ = room;
  send_soon();
  return IoOutcome::ok(bytes.size());
}

void RingPort::wait_writable(OnWritable handler) {
  SLUICE_ASSERT(!on_writable_ && !closing_);
  on_writable_ = std::move(handler);
  if (sending_)
    attend();
  else if (!waiting_.pending)
    start(waiting_);
}

void RingPort::shutdown_send() {
  shutdown_due_ = true;
  attend();
  if (!sending_ && rest_.empty()) all_sent();
}

void RingPort::close(OnClosed done) {
  SLUICE_ASSERT(!closing_);
  closing_ = true;
  on_receive_ = nullptr;
  on_writable_ = nullptr;
  on_closed_ = std::move(done);
  for (Operation* operation : {&receiving_, &waiting_})
    if (operation->pending) cancel(*operation);
  attend();
  end_if_let_go();
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
    entry.buf_group = Ring::Impl::kBufferGroup;
  } else {
    io_uring_prep_poll_add(&entry, fd_, POLLOUT);
  }
  io_uring_sqe_set_data(&entry, &operation);
  operation.pending = true;
  operation.cancelled = false;
}

// It is done when it has been handed in, the bytes copied, and says so if not all were (MSG_WAITALL): see
// Ring::Impl::settle().
void RingPort::send_soon() {
  io_uring_sqe& entry = ring_.request();
  io_uring_prep_send(&entry, fd_, outgoing_.data(), outgoing_.size(),
                     MSG_DONTWAIT | MSG_WAITALL | MSG_NOSIGNAL);
  entry.flags |= IOSQE_CQE_SKIP_SUCCESS;
  entry.user_data = send_of(this);
  sending_ = true;
  send_result_ = static_cast<std::int32_t>(outgoing_.size());
  ring_.sending.push_back(this);
}

// What is to be done when outgoing_ is must not wait for what comes next.
void RingPort::attend() noexcept {
  if (sending_) ring_.attention = true;
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

// After close().
void RingPort::end_if_let_go() {
  if (!busy()) call_soon();
}

void RingPort::turn() {
  turn_due_ = false;
  if (closing_) {
    // Due since before close(): the kernel's last word comes with completed().
    if (busy()) return;
    send_rest();
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
  if (&operation == &receiving_) {
    received(result, std::move(buffer));
  } else {
    writable(result);
  }
  if (closing_) end_if_let_go();
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

void RingPort::sent() {
  sending_ = false;
  if (send_result_ < 0 && send_result_ != -EAGAIN && send_result_ != -EINTR) {
    fail_to_send(-send_result_);
  } else {
    const ByteView left = outgoing_.subspan(static_cast<std::size_t>(std::max(send_result_, 0)));
    rest_.insert(rest_.begin(), left.begin(), left.end());
  }
  if (closing_) return end_if_let_go();
  if (!send_failed() && !rest_.empty()) return send_rest();
  all_sent();
}

void RingPort::writable(std::int32_t result) {
  if (closing_) return;
  if (result < 0) fail_to_send(-result);
  if (sending_) return;  // before rest_, and its end is told
  if (!rest_.empty()) return send_rest();
  all_sent();
}

// What the socket was too full for, or what came behind that.
void RingPort::send_rest() {
  while (!rest_.empty()) {
    const IoOutcome outcome = send_now(fd_, rest_);
    if (outcome.status == IoStatus::WouldBlock) {
      if (!closing_ && !waiting_.pending) start(waiting_);
      return;
    }
    if (outcome.status == IoStatus::Ok)
      rest_.erase(rest_.begin(), rest_.begin() + static_cast<std::ptrdiff_t>(outcome.bytes));
    else
      fail_to_send(outcome.error.value());
  }
  rest_ = Bytes();  // gives its memory back
  all_sent();
}

// Or nothing ever will be.
void RingPort::all_sent() {
  if (std::exchange(shutdown_due_, false)) ::shutdown(fd_, SHUT_WR);
  if (const OnWritable handler = std::exchange(on_writable_, nullptr)) handler(std::error_code());
}

void RingPort::fail_to_send(int error) noexcept {
  send_error_ = error;
  rest_.clear();
}

}  // namespace sluice::net
