#include "net/stream.h"

#include <algorithm>
#include <cerrno>

#include <asio/experimental/as_tuple.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"
#include "net/net_error.h"
#include "net/send_now.h"

namespace sluice::net {
namespace {

constexpr auto kAwait = asio::experimental::as_tuple(asio::use_awaitable);

// write_all lets other connections have a turn after this many bytes that went out without a wait.
constexpr std::size_t kTurnBytes = 1024 * 1024;

IoOutcome received(ssize_t count, std::size_t asked) noexcept {
  if (count > 0 || asked == 0) return IoOutcome::ok(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  if (count == 0) return IoOutcome::eof();
  if (errno == EAGAIN || errno == EWOULDBLOCK) return IoOutcome::would_block(IoWant::Read);
  return IoOutcome::failed({errno, std::system_category()});
}

IoOutcome receive(int fd, std::span<std::byte> into, int flags) noexcept {
  ssize_t count = 0;
  do {
    count = ::recv(fd, into.data(), into.size(), MSG_DONTWAIT | flags);
  } while (count < 0 && errno == EINTR);
  return received(count, into.size());
}

}  // namespace

IoOutcome send_now(int fd, ByteView bytes) noexcept {
  ssize_t count = 0;
  do {
    count = ::send(fd, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  } while (count < 0 && errno == EINTR);
  if (count >= 0) return IoOutcome::ok(static_cast<std::size_t>(count));
  if (errno == EAGAIN || errno == EWOULDBLOCK) return IoOutcome::would_block(IoWant::Write);
  return IoOutcome::failed({errno, std::system_category()});
}

DetachedStream::DetachedStream(DetachedStream&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), tls_(std::move(other.tls_)), side_(other.side_) {}

DetachedStream& DetachedStream::operator=(DetachedStream&& other) noexcept {
  if (this == &other) return *this;
  close();
  fd_ = std::exchange(other.fd_, -1);
  tls_ = std::move(other.tls_);
  side_ = other.side_;
  return *this;
}

void DetachedStream::close() noexcept {
  if (fd_ < 0) return;
  if (tls_ != nullptr) tls_->close_notify();
  tls_.reset();
  ::close(std::exchange(fd_, -1));
}

Stream::Stream(Socket socket, Side side) : socket_(std::move(socket)), side_(side) {
  std::error_code ec;
  socket_.non_blocking(true, ec);  // fails on a closed socket alone, whose operations all fail by themselves
}

Stream::Stream(Stream&& other) noexcept
    : socket_(std::move(other.socket_)),
      parked_(std::exchange(other.parked_, -1)),
      tls_(std::move(other.tls_)),
      side_(other.side_),
      read_want_(other.read_want_),
      write_want_(other.write_want_) {}

Stream& Stream::operator=(Stream&& other) noexcept {
  if (this == &other) return *this;
  close();
  socket_ = std::move(other.socket_);
  parked_ = std::exchange(other.parked_, -1);
  tls_ = std::move(other.tls_);
  side_ = other.side_;
  read_want_ = other.read_want_;
  write_want_ = other.write_want_;
  return *this;
}

int Stream::native_handle() const noexcept {
  if (parked_ >= 0 || !socket_.is_open()) return parked_;
  return const_cast<Socket&>(socket_).native_handle();  // Asio's is not const
}

IoOutcome Stream::try_read(std::span<std::byte> into) {
  if (into.empty()) return IoOutcome::ok(0);
  if (!is_open()) return IoOutcome::failed({EBADF, std::system_category()});
  const IoOutcome outcome =
      tls_ != nullptr ? tls_->read(into)
                      : receive(native_handle(), into.first(std::min(into.size(), kAttemptBytesMax)), 0);
  if (outcome.status == IoStatus::WouldBlock) read_want_ = outcome.want;
  return outcome;
}

IoOutcome Stream::try_write(ByteView bytes) {
  if (bytes.empty()) return IoOutcome::ok(0);
  if (!is_open()) return IoOutcome::failed({EBADF, std::system_category()});
  SLUICE_ASSERT(parked_ < 0);
  const IoOutcome outcome =
      tls_ != nullptr ? tls_->write(bytes)
                      : send_now(native_handle(), bytes.first(std::min(bytes.size(), kAttemptBytesMax)));
  if (outcome.status == IoStatus::WouldBlock) write_want_ = outcome.want;
  return outcome;
}

bool Stream::hung_up() const noexcept {
  pollfd polled{native_handle(), POLLRDHUP, 0};
  return ::poll(&polled, 1, 0) == 1;
}

IoOutcome Stream::try_peek(std::span<std::byte> into) {
  SLUICE_ASSERT(tls_ == nullptr);
  if (!is_open()) return IoOutcome::failed({EBADF, std::system_category()});
  return receive(native_handle(), into, MSG_PEEK);
}

bool Stream::has_pending_or_eof() {
  if (!is_open()) return true;
  std::byte byte{};
  const IoOutcome outcome = tls_ != nullptr ? tls_->peek() : try_peek({&byte, 1});
  if (outcome.status == IoStatus::WouldBlock) read_want_ = outcome.want;
  return outcome.status != IoStatus::WouldBlock || (tls_ != nullptr && tls_->holds_part_of_record());
}

asio::awaitable<std::error_code> Stream::wait(IoWant want) {
  const std::uint32_t before = cancellations_;
  const auto [ec] =
      co_await socket_.async_wait(want == IoWant::Read ? Socket::wait_read : Socket::wait_write, kAwait);
  if (ec) co_return ec;
  // Woken, and cancelled before its turn came.
  if (before != cancellations_) co_return asio::error::operation_aborted;
  const asio::cancellation_state state = co_await asio::this_coro::cancellation_state;
  if (state.cancelled() != asio::cancellation_type::none) co_return asio::error::operation_aborted;
  co_return std::error_code();
}

asio::awaitable<Result<void>> Stream::handshake(std::shared_ptr<const TlsContext> context, TlsRole role,
                                                std::string server_name) {
  SLUICE_ASSERT(tls_ == nullptr);
  Result<std::unique_ptr<TlsSession>> made =
      TlsSession::make(std::move(context), role, std::move(server_name), socket_.native_handle());
  if (!made) co_return from_io(made.error().code, side_);
  tls_ = *std::move(made);
  while (true) {
    if (!socket_.is_open()) co_return from_io(asio::error::operation_aborted, side_);
    const IoOutcome outcome = tls_->handshake();
    switch (outcome.status) {
      case IoStatus::Ok:
        co_return Result<void>();
      case IoStatus::Eof:
        co_return from_io(asio::error::eof, side_);
      case IoStatus::Failed:
        co_return from_io(outcome.error, side_);
      case IoStatus::WouldBlock:
        break;
    }
    if (const std::error_code ec = co_await wait(outcome.want)) co_return from_io(ec, side_);
  }
}

asio::awaitable<Result<std::size_t>> Stream::read_some(std::span<std::byte> into) {
  if (into.empty()) co_return std::size_t{0};
  if (tls_ == nullptr) {
    // Tries by itself before it waits, and its wait takes no epoll_ctl.
    const auto [ec, count] = co_await socket_.async_read_some(asio::buffer(into.data(), into.size()), kAwait);
    if (ec) co_return from_io(ec, side_);
    co_return count;
  }
  while (true) {
    const IoOutcome outcome = try_read(into);
    switch (outcome.status) {
      case IoStatus::Ok:
        co_return outcome.bytes;
      case IoStatus::Eof:
        co_return from_io(asio::error::eof, side_);
      case IoStatus::Failed:
        co_return from_io(outcome.error, side_);
      case IoStatus::WouldBlock:
        break;
    }
    if (const std::error_code ec = co_await wait(outcome.want)) co_return from_io(ec, side_);
  }
}

asio::awaitable<Result<void>> Stream::read_exactly(std::span<std::byte> into) {
  while (!into.empty()) {
    const Result<std::size_t> count = co_await read_some(into);
    if (!count) co_return count.error();
    into = into.subspan(*count);
  }
  co_return Result<void>();
}

asio::awaitable<Result<void>> Stream::write_all(ByteView bytes) {
  std::size_t since_turn = 0;
  while (!bytes.empty()) {
    const IoOutcome outcome = try_write(bytes);
    if (outcome.status == IoStatus::WouldBlock) {
      since_turn = 0;
      if (const std::error_code ec = co_await wait(outcome.want)) co_return from_io(ec, side_);
      continue;
    }
    if (outcome.status != IoStatus::Ok) {
      co_return from_io(detail::as_error(outcome), side_);
    }
    bytes = bytes.subspan(outcome.bytes);
    since_turn += outcome.bytes;
    if (since_turn < kTurnBytes || bytes.empty()) continue;
    since_turn = 0;
    const std::uint32_t before = cancellations_;
    co_await asio::post(socket_.get_executor(), asio::use_awaitable);
    if (before != cancellations_) co_return from_io(asio::error::operation_aborted, side_);
  }
  co_return Result<void>();
}

void Stream::cancel() noexcept {
  ++cancellations_;
  std::error_code ignored;
  socket_.cancel(ignored);
}

void Stream::shutdown_send() noexcept {
  if (!is_open()) return;
  if (tls_ != nullptr) tls_->close_notify();
  ::shutdown(native_handle(), SHUT_WR);
}

void Stream::close() noexcept {
  if (!is_open()) return;
  ++cancellations_;
  if (tls_ != nullptr) tls_->close_notify();
  std::error_code ignored;
  if (parked_ >= 0) {
    ::close(std::exchange(parked_, -1));
  } else {
    socket_.close(ignored);
  }
}

Result<DetachedStream> Stream::release() {
  std::error_code ec;
  const int fd = socket_.release(ec);
  if (ec) return from_io(ec, side_);
  return DetachedStream(fd, std::move(tls_), side_);
}

Result<Stream> Stream::adopt(asio::any_io_executor executor, DetachedStream released) {
  Socket socket(std::move(executor));
  std::error_code ec;
  // Asio asks the protocol for nothing but the socket's type here.
  socket.assign(asio::generic::stream_protocol(AF_UNSPEC, 0), released.fd_, ec);
  if (ec) return from_io(ec, released.side_);
  released.fd_ = -1;
  Stream stream(std::move(socket), released.side_);
  stream.tls_ = std::move(released.tls_);
  return stream;
}

Result<void> Stream::park() {
  std::error_code ec;
  const int fd = socket_.release(ec);
  if (ec) return from_io(ec, side_);
  parked_ = fd;
  return {};
}

Result<void> Stream::unpark() {
  SLUICE_ASSERT(parked_ >= 0);
  std::error_code ec;
  socket_.assign(asio::generic::stream_protocol(AF_UNSPEC, 0), parked_, ec);
  if (ec) return from_io(ec, side_);
  parked_ = -1;
  socket_.non_blocking(true, ec);
  return {};
}

}  // namespace sluice::net
