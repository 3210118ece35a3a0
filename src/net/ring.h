#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include <asio/io_context.hpp>

#include "base/bytes.h"
#include "net/buffer_pool.h"
#include "net/io_outcome.h"

namespace sluice::net {

class RingPort;
class Stream;

// An io_uring for the sockets of one thread that move bytes all day: the kernel receives into buffers that it
// was given in advance, and one call sends what all sockets have to send, waits, and collects what came on
// all of them. So a message costs no system call of its own. The thread's event loop waits by way of it
// (net/event_wait.h): the first loop that waits on the thread once there is a ring, and it does not run out
// of work while there is. Source: io_uring(7), io_uring_prep_recv_multishot(3), io_uring_prep_send(3).
// Thread: the one that opened it and runs the event loop, which has no other ring. Outlives its ports.
class Ring {
 public:
  // Buffers that wait in the kernel; taken from the pool, and each replaced as soon as it has been filled.
  static constexpr unsigned kBuffers = 64;

  // Null, with the reason, where the kernel or a container forbids io_uring or lacks what is needed of it
  // (Linux 6.1).
  static std::unique_ptr<Ring> open(asio::io_context& io, BufferPool& buffers, std::error_code& why);
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;
  ~Ring();  // no port may be left

 private:
  friend class RingPort;
  struct Impl;
  explicit Ring(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

// One plain socket on a ring. The socket belongs to its owner, is not on the event loop meanwhile (see
// Stream::park), and is closed after close() has completed. Handlers are called within the event loop's wait,
// never within the call that takes them; to io_context::run_one() they count as nothing.
class RingPort {
 public:
  using OnReceive = std::function<void(std::error_code, PooledBuffer, std::size_t)>;
  using OnWritable = std::function<void(std::error_code)>;
  using OnClosed = std::function<void()>;
  struct Received {
    PooledBuffer buffer;
    std::size_t count;
  };

  RingPort(Ring& ring, int fd);
  RingPort(const RingPort&) = delete;
  RingPort& operator=(const RingPort&) = delete;
  ~RingPort();  // nothing may be pending

  // What comes next: bytes in a buffer of their own, or asio::error::eof or another error, again each time.
  // While nobody asks the kernel is told to stop; what it had received by then waits here, Ring::kBuffers at
  // the most. A socket that fills whole buffers is received from one by one, so that this happens once.
  void receive(OnReceive handler);

  // In place of Stream::try_write. Up to kSendBytes are taken as a socket buffer would take them, and up to
  // kQueueBytes behind them: they go out when the thread waits next, or later where the socket is full,
  // unless the connection fails, which the next call tells.
  static constexpr std::size_t kSendBytes = 4096;
  static constexpr std::size_t kQueueBytes = 16 * 1024;
  IoOutcome try_send(ByteView bytes);
  // What the last try_send() that would block waits for.
  void wait_writable(OnWritable handler);
  // The end of our direction, behind all that was taken.
  void shutdown_send();

  // What was taken is sent as far as the socket takes it. Ends what else is pending without a call; `done` is
  // called when the kernel has let go of the socket.
  void close(OnClosed done);
  // After close(): what had been received and nobody had asked for, in order.
  std::optional<Received> take_unasked();
  // After close(): what was taken and the socket did not take.
  Bytes take_unsent() noexcept { return std::move(rest_); }
  // Something that was taken was not sent, and is not in take_unsent() either. Whoever waits for an answer
  // asks.
  bool send_failed() const noexcept { return send_error_ != 0; }

 private:
  friend class Ring;
  // What the kernel was asked for; its address is the request's name there.
  struct Operation {
    RingPort* port;
    bool pending = false;
    bool cancelled = false;
  };

  void start(Operation& operation);
  void cancel(Operation& operation);
  bool busy() const noexcept { return receiving_.pending || sending_ || waiting_.pending; }
  void completed(Operation& operation, std::int32_t result, bool more, PooledBuffer buffer);
  void received(std::int32_t result, PooledBuffer buffer);
  void send_soon();
  void attend() noexcept;
  void sent();
  void writable(std::int32_t result);
  void send_rest();
  void all_sent();
  void fail_to_send(int error) noexcept;
  void call_soon();
  void end_if_let_go();
  void turn();

  Ring::Impl& ring_;
  const int fd_;
  Operation receiving_{this};
  Operation waiting_{this};  // until the socket takes more
  bool bulk_ = false;        // the last buffer was full
  bool closing_ = false;
  bool turn_due_ = false;
  bool sending_ = false;  // outgoing_ was asked for and is not known to be done
  bool shutdown_due_ = false;
  std::int32_t send_result_ = 0;  // of that: bytes, or less than 0 an errno
  int send_error_ = 0;            // an errno: nothing can be sent any more
  std::error_code end_;           // after which nothing comes
  OnReceive on_receive_;
  OnWritable on_writable_;
  OnClosed on_closed_;
  std::vector<Received> unasked_;
  ByteView outgoing_;  // in the ring's memory
  Bytes rest_;         // taken, behind outgoing_; while there is some, sending_ or waiting_.pending
};

// Takes a stream's socket off its event loop and onto the ring; nothing may be pending on it. `port` stays
// empty for TLS, which needs its engine between the socket and the bytes, and where the event loop does not
// let go.
void move_to_ring(Ring& ring, Stream& stream, std::optional<RingPort>& port);
// The way back, after RingPort::close() has completed. Where there is none, and where something that was
// taken to be sent was not, the stream is closed.
void leave_ring(std::optional<RingPort>& port, Stream& stream);

}  // namespace sluice::net
