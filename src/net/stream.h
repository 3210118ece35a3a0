#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include <asio/any_io_executor.hpp>
#include <asio/async_result.hpp>
#include <asio/awaitable.hpp>
#include <asio/buffer.hpp>
#include <asio/error.hpp>
#include <asio/generic/stream_protocol.hpp>
#include <asio/post.hpp>

#include "base/bytes.h"
#include "base/result.h"
#include "net/io_outcome.h"
#include "net/tls_session.h"

namespace sluice::net {

using Socket = asio::generic::stream_protocol::socket;  // TCP or Unix

namespace detail {
template <class Handler>
struct TlsReadOp;
}  // namespace detail

// A connection between two threads: out of one event loop, not yet in the next. Closes the socket if nobody
// adopts it.
class DetachedStream {
 public:
  DetachedStream(DetachedStream&& other) noexcept;
  DetachedStream& operator=(DetachedStream&& other) noexcept;
  ~DetachedStream() { close(); }
  int native_handle() const noexcept { return fd_; }

 private:
  friend class Stream;
  DetachedStream(int fd, std::unique_ptr<TlsSession> tls, Side side)
      : fd_(fd), tls_(std::move(tls)), side_(side) {}
  void close() noexcept;

  int fd_;
  std::unique_ptr<TlsSession> tls_;
  Side side_;
};

// One connection, plain or TLS, TCP or Unix, in non-blocking mode; lives on one thread. At most one read and
// one write at a time. Asynchronous operations complete later, never inside the call that starts them. A
// stream may be moved or destroyed only while no operation on it is pending: cancel() or close(), and let the
// operation complete first. Errors of the coroutine forms carry the stream's side; an end of stream is
// BaseErrc::Closed, a cancellation BaseErrc::Cancelled.
class Stream {
 public:
  // Takes over a connected socket. `side` is whose fault a failure on it is.
  explicit Stream(Socket socket, Side side = Side::Client);
  Stream(Stream&& other) noexcept;
  Stream& operator=(Stream&& other) noexcept;
  ~Stream() { close(); }

  Socket& socket() noexcept { return socket_; }
  const Socket& socket() const noexcept { return socket_; }
  asio::any_io_executor get_executor() { return socket_.get_executor(); }
  Side side() const noexcept { return side_; }
  bool is_open() const noexcept { return native_handle() >= 0; }
  // -1 when closed.
  int native_handle() const noexcept;
  // Null while the stream is plain.
  const TlsSession* tls() const noexcept { return tls_.get(); }
  // The other side ended TLS without close_notify: what was read may lack its end.
  bool truncated() const noexcept { return tls_ != nullptr && tls_->truncated(); }

  // Turns the stream into TLS. No timeout of its own: see Deadline. After an error the stream is only good
  // for close().
  asio::awaitable<Result<void>> handshake(std::shared_ptr<const TlsContext> context, TlsRole role,
                                          std::string server_name);

  // Non-blocking attempts. An empty buffer gives Ok with 0 bytes. One call moves at most kAttemptBytesMax, so
  // that one connection cannot hold the thread. try_write after WouldBlock: see TlsSession::write.
  static constexpr std::size_t kAttemptBytesMax = 256 * 1024;
  IoOutcome try_read(std::span<std::byte> into);
  IoOutcome try_write(ByteView bytes);
  // Whether the other side sends no more, or the connection has failed: told by the kernel, nothing is read.
  bool hung_up() const noexcept;
  // Looks at the first bytes without taking them (plain streams alone).
  IoOutcome try_peek(std::span<std::byte> into);

  // For an idle server connection: false = healthy and silent, the only state in which it may be handed out.
  // TLS records that carry no data (session tickets) are taken in and do not count.
  bool has_pending_or_eof();

  // Token: a handler of (std::error_code, std::size_t) or any Asio completion token. End of stream is
  // asio::error::eof. Waiting on the socket allocates with the handler's associated allocator, by default
  // Asio's recycled memory; a completion that needs no wait is posted from that memory always. `into` must
  // not be empty.
  template <class Token>
  auto async_read_some(std::span<std::byte> into, Token&& token);
  // Handler of (std::error_code). Holds no buffer; at once when TLS has decrypted bytes. One epoll_ctl each:
  // for idle streams.
  template <class Token>
  auto async_wait_readable(Token&& token);
  // Handler of (std::error_code). What the last try_write that would block waits for.
  template <class Token>
  auto async_wait_writable(Token&& token);

  // Coroutine forms for everything that is not hot.
  asio::awaitable<Result<std::size_t>> read_some(std::span<std::byte> into);
  asio::awaitable<Result<void>> write_all(ByteView bytes);
  // Reads exactly into.size() bytes.
  asio::awaitable<Result<void>> read_exactly(std::span<std::byte> into);

  // Pending operations complete with operation_aborted. Does not reach an operation that has yet to start:
  // whoever cancels from a timer has its coroutine look at Deadline::expired() between operations, or closes
  // the stream instead.
  void cancel() noexcept;
  // close_notify where it costs no wait, and the end of our direction; reading goes on.
  void shutdown_send() noexcept;
  // close_notify where it costs no wait, then the socket. Pending operations complete with operation_aborted.
  // Idempotent.
  void close() noexcept;

  // Gives the connection up so that another thread's event loop can take it over; nothing may be pending on
  // it.
  Result<DetachedStream> release();
  static Result<Stream> adopt(asio::any_io_executor executor, DetachedStream released);

  // Takes the socket off its event loop for a Ring, and puts it back; nothing may be pending. In between only
  // the attempts to read, native_handle(), hung_up() and close() are for use.
  Result<void> park();
  Result<void> unpark();

 private:
  template <class Handler>
  friend struct detail::TlsReadOp;

  template <class Handler>
  void wait_for(IoWant want, Handler&& handler) {
    socket_.async_wait(want == IoWant::Read ? Socket::wait_read : Socket::wait_write,
                       std::forward<Handler>(handler));
  }
  template <class Handler>
  void start_tls_read(std::span<std::byte> into, Handler handler);
  asio::awaitable<std::error_code> wait(IoWant want);

  Socket socket_;
  int parked_ = -1;  // the socket while it is off the event loop
  std::unique_ptr<TlsSession> tls_;
  Side side_;
  IoWant read_want_ = IoWant::Read;  // what the last read, and the last write, that would block waits for
  IoWant write_want_ = IoWant::Write;
  // So that an operation that was woken and then cancelled does not wait again.
  std::uint32_t cancellations_ = 0;
};

}  // namespace sluice::net

#include "net/stream_ops.h"  // IWYU pragma: export
