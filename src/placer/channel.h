#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <system_error>

#include "net/buffer_pool.h"
#include "net/stream.h"

namespace sluice::placer {

class Channel;

// Whom a channel tells what happened. Called from the event loop, never from within the channel's own calls.
class ChannelUser {
 public:
  // Bytes came (they lie in unread()), or with an error none: asio::error::eof is the other side's end.
  virtual void on_read(Channel& channel, std::error_code ec) = 0;
  // What would block may be written now, or ec says why never.
  virtual void on_writable(Channel& channel, std::error_code ec) = 0;
  // After close(): no operation is pending any more, so the channel may be destroyed.
  virtual void on_quiet(Channel& channel) = 0;

 protected:
  ~ChannelUser() = default;
};

// A connection and the buffer that it is read with. At most one read and one wait for writing at a time; both
// may be pending when the user changes. In front of what is read there is always room for kHeadRoom bytes, so
// that a rewritten head or a chunk's size can be put before a body where it lies and go out in the same
// write. Invariant: begin_ <= end_ <= the buffer's size; bytes in front of begin_ are free. Lifetime:
// destroyed after on_quiet(), or when nothing was ever started on it. Thread: the one of the stream's
// executor.
class Channel {
 public:
  static constexpr std::size_t kHeadRoom = 4096;
  static constexpr std::size_t kTailRoom = 32;

  Channel(net::Stream stream, net::BufferPool& buffers, ChannelUser* user);
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;
  ~Channel();

  void set_user(ChannelUser* user) noexcept { user_ = user; }
  net::Stream& stream() noexcept { return stream_; }

  // What was read and not taken yet. The view holds until the next read().
  std::span<char> unread() noexcept;
  std::string_view unread_text() noexcept {
    const std::span<char> bytes = unread();
    return {bytes.data(), bytes.size()};
  }
  void take(std::size_t count) noexcept { begin_ += count; }
  bool empty() const noexcept { return begin_ == end_; }
  // Free bytes in front of a place in the buffer that lies in front of what is unread, or where that begins.
  std::size_t room_before(const char* place) const noexcept;
  // Free bytes from a place in front of what is unread up to it; to the buffer's end when nothing is unread.
  std::size_t room_behind(const char* place) const noexcept;
  // Moves what is unread so that it begins at `place` or behind it. No further than kTailRoom from where it
  // is, and not while a read is pending.
  void move_unread_behind(const char* place) noexcept;
  // No room for a further byte, although all of it is unread.
  bool full() const noexcept;

  // Reads more behind what is unread, which may move to the buffer's front: views into it die. Nothing
  // happens while a read is pending, after close(), or when the buffer is full.
  void read();
  bool reading() const noexcept { return state_ != ReadState::Stopped; }
  // Gives the buffer back when it is empty and nothing but a read is pending; the read goes on without one.
  // To be called by a timer on idle connections.
  void park();

  // A direct attempt; see Stream::try_write. Then, after WouldBlock, wait_writable().
  net::IoOutcome write(std::string_view bytes);
  void wait_writable();
  bool waiting_to_write() const noexcept { return waiting_to_write_; }

  // Whether the other side has ended it or sent something: for a kept connection before its next use.
  bool has_pending_or_eof() { return !empty() || stream_.has_pending_or_eof(); }

  void close() noexcept;
  // close() so that the other side sees a reset: what it has got is not the whole.
  void abort() noexcept;
  bool closed() const noexcept { return !stream_.is_open(); }
  bool quiet() const noexcept { return pending_ == 0; }

 private:
  enum class ReadState : std::uint8_t {
    Stopped,
    Reading,  // into the buffer
    Parking,  // that read was cancelled to give the buffer back
    Parked,   // waits for readability without a buffer
  };
  void start_read();
  void on_read_done(std::error_code ec, std::size_t count);
  void on_readable(std::error_code ec);
  void settle();

  net::Stream stream_;
  net::BufferPool& buffers_;
  ChannelUser* user_;
  net::PooledBuffer buffer_;
  std::size_t begin_ = 0, end_ = 0;
  ReadState state_ = ReadState::Stopped;
  bool waiting_to_write_ = false;
  int pending_ = 0;
};

}  // namespace sluice::placer
