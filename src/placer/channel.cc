#include "placer/channel.h"

#include <cstring>
#include <utility>

#include <asio/error.hpp>
#include <sys/socket.h>

#include "base/assert.h"

namespace sluice::placer {

Channel::Channel(net::Stream stream, net::BufferPool& buffers, ChannelUser* user)
    : stream_(std::move(stream)), buffers_(buffers), user_(user) {}

Channel::~Channel() {
  SLUICE_ASSERT(pending_ == 0);
}

std::span<char> Channel::unread() noexcept {
  if (!buffer_) return {};
  return {reinterpret_cast<char*>(buffer_.span().data()) + begin_, end_ - begin_};
}

std::size_t Channel::room_before(const char* place) const noexcept {
  return static_cast<std::size_t>(place - reinterpret_cast<const char*>(buffer_.span().data()));
}

std::size_t Channel::room_behind(const char* place) const noexcept {
  const std::size_t at = room_before(place);
  const std::size_t end = empty() ? buffer_.span().size() : begin_;
  return end > at ? end - at : 0;
}

void Channel::move_unread_behind(const char* place) noexcept {
  const std::size_t at = room_before(place);
  if (empty() || begin_ >= at) return;
  SLUICE_ASSERT(!reading() && end_ + (at - begin_) <= buffer_.span().size());
  std::memmove(buffer_.span().data() + at, buffer_.span().data() + begin_, end_ - begin_);
  end_ += at - begin_;
  begin_ = at;
}

bool Channel::full() const noexcept {
  return buffer_ && end_ - begin_ + kHeadRoom + 2 * kTailRoom >= buffer_.span().size();
}

void Channel::read() {
  if (reading() || closed() || full()) return;
  start_read();
}

void Channel::start_read() {
  if (!buffer_) {
    buffer_ = buffers_.take();
    begin_ = end_ = kHeadRoom;
  }
  const std::span<std::byte> room = buffer_.span();
  if (begin_ == end_) {
    begin_ = end_ = kHeadRoom;
  } else if (end_ + kTailRoom + room.size() / 4 > room.size() && begin_ > kHeadRoom) {
    std::memmove(room.data() + kHeadRoom, room.data() + begin_, end_ - begin_);
    end_ -= begin_ - kHeadRoom;
    begin_ = kHeadRoom;
  }
  state_ = ReadState::Reading;
  ++pending_;
  stream_.async_read_some(room.subspan(end_, room.size() - kTailRoom - end_),
                          [this](std::error_code ec, std::size_t count) { on_read_done(ec, count); });
}

void Channel::park() {
  // cancel() ends every operation of the socket, a wait for writing too.
  if (state_ != ReadState::Reading || waiting_to_write_ || !empty()) return;
  state_ = ReadState::Parking;
  stream_.cancel();
}

void Channel::on_read_done(std::error_code ec, std::size_t count) {
  --pending_;
  const bool parking = std::exchange(state_, ReadState::Stopped) == ReadState::Parking;
  if (closed()) return settle();
  if (parking && ec == asio::error::operation_aborted) {
    buffer_.reset();
    begin_ = end_ = 0;
    state_ = ReadState::Parked;
    ++pending_;
    stream_.async_wait_readable([this](std::error_code error) { on_readable(error); });
    return;
  }
  end_ += count;
  user_->on_read(*this, ec);
}

void Channel::on_readable(std::error_code ec) {
  --pending_;
  state_ = ReadState::Stopped;
  if (closed()) return settle();
  if (ec) return user_->on_read(*this, ec);
  start_read();
}

net::IoOutcome Channel::write(std::string_view bytes) {
  return stream_.try_write(as_bytes(bytes));
}

void Channel::wait_writable() {
  if (waiting_to_write_ || closed()) return;
  waiting_to_write_ = true;
  ++pending_;
  stream_.async_wait_writable([this](std::error_code ec) {
    --pending_;
    waiting_to_write_ = false;
    if (closed()) return settle();
    user_->on_writable(*this, ec);
  });
}

void Channel::close() noexcept {
  stream_.close();
  if (pending_ == 0) buffer_.reset();
}

void Channel::abort() noexcept {
  if (!closed()) {
    const linger reset{1, 0};
    ::setsockopt(stream_.native_handle(), SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
    // Not Stream::close(): its close_notify would call the part the whole.
    stream_.cancel();
    std::error_code ignored;
    stream_.socket().close(ignored);
  }
  close();
}

void Channel::settle() {
  if (pending_ > 0) return;
  buffer_.reset();
  user_->on_quiet(*this);
}

}  // namespace sluice::placer
