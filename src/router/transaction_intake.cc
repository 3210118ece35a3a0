// The client's bytes, up to where a server gets them.
#include <utility>

#include <asio/error.hpp>

#include "protocol/backend_messages.h"
#include "router/transaction_relay.h"

namespace sluice::router {
namespace {

using protocol::HeaderWalker;

// What a server ignores when nothing is going on: the rest of a COPY that failed, and a proper Flush.
bool unanswered(char type) noexcept {
  return type == 'd' || type == 'c' || type == 'f' || type == 'H';
}
// A Flush that is, or may yet turn out to be, one with a body: the server refuses it.
bool doubtful_flush(ByteView bytes) noexcept {
  return bytes.front() == std::byte{'H'} &&
         (bytes.size() < HeaderWalker::kHeaderBytes || bytes[4] != std::byte{4} || bytes[3] != std::byte{0} ||
          bytes[2] != std::byte{0} || bytes[1] != std::byte{0});
}
bool extended(char type) noexcept {
  return type == 'P' || type == 'B' || type == 'D' || type == 'E' || type == 'C';
}
bool known(char type) noexcept {
  return unanswered(type) || extended(type) || type == 'Q' || type == 'F' || type == 'S' || type == 'X';
}

}  // namespace

bool TransactionRelay::may_read() const noexcept {
  if (reading_ != Reading::No || ending_ || !to_server_.empty() || tracker_.full() || translator_holds_)
    return false;
  // To stop the kernel and start it again costs more than what it receives meanwhile; and so a client that
  // leaves is noticed.
  if (waiting_since_) return port_ && held_.size() <= buffers_.buffer_bytes();
  return held_.empty() || incomplete_;
}

void TransactionRelay::read() {
  reading_ = Reading::Pending;
  if (!port_ && ring_.ring != nullptr && reads_ >= ring_.after_reads && !writing_client_)
    net::move_to_ring(*ring_.ring, client_, port_);
  if (port_) return read_from_port();
  if (!buffer_) buffer_ = buffers_.take();
  ++pending_;
  client_.async_read_some(buffer_.span(), [this](std::error_code ec, std::size_t count) {
    --pending_;
    if (ending_) return operation_done();
    on_read(ec, count);
  });
}

// What is pending on a port ends when the port is closed, so it counts as no operation of its own.
void TransactionRelay::read_from_port() {
  buffer_.reset();
  port_->receive([this](std::error_code ec, net::PooledBuffer buffer, std::size_t count) {
    buffer_ = std::move(buffer);
    on_read(ec, count);
  });
}

void TransactionRelay::on_read(std::error_code ec, std::size_t count) {
  if (reading_ == Reading::Over) return buffer_.reset();
  const bool was_going_idle = std::exchange(reading_, Reading::No) == Reading::GoingIdle;
  if (ec == asio::error::operation_aborted && was_going_idle) return wait_idle();
  if (reads_ < ring_.after_reads) ++reads_;
  if (ec == asio::error::eof) return on_end_of_file();
  if (ec) return finish(RelayEnd::ClientFailed);
  take(ByteView(buffer_.span().data(), count), Clock::now());
}

void TransactionRelay::wait_idle() {
  buffer_.reset();
  reading_ = Reading::Idle;
  ++pending_;
  client_.async_wait_readable([this](std::error_code ec) { on_readable(ec); });
}

void TransactionRelay::on_readable(std::error_code ec) {
  --pending_;
  if (ending_) return operation_done();
  if (reading_ == Reading::Over) return;
  if (ec) return finish(RelayEnd::ClientFailed);
  reading_ = Reading::No;
  if (waiting_since_) {
    // Else what it has sent before is still to be read, and run.
    if (!client_.hung_up())
      watched_ = true;
    else if (!host_.past_gate())
      client_left(RelayEnd::ClientClosed);
    return;
  }
  if (!may_read()) return;
  buffer_ = buffers_.take();
  const net::IoOutcome outcome = client_.try_read(buffer_.span());
  switch (outcome.status) {
    case net::IoStatus::Ok:
      return take(ByteView(buffer_.span().data(), outcome.bytes), Clock::now());
    case net::IoStatus::WouldBlock:
      return wait_idle();
    case net::IoStatus::Eof:
      return on_end_of_file();
    case net::IoStatus::Failed:
      return finish(RelayEnd::ClientFailed);
  }
}

// What it has sent before counts, as it does with PostgreSQL: unless it still waits for its turn.
void TransactionRelay::on_end_of_file() {
  end_of_file_ = true;
  reading_ = Reading::Over;
  buffer_.reset();
  end_if_all_used();
}

void TransactionRelay::end_if_all_used() {
  if (!end_of_file_ || ending_ || client_gone_ || using_) return;
  const bool waits = waiting_since_ ? host_.past_gate() : !held_.empty() && !incomplete_;
  if (!waits && !translator_holds_) client_left(RelayEnd::ClientClosed);
}

// What cannot be used yet is kept, and the buffer goes back: thousands may wait at a time.
void TransactionRelay::take(ByteView bytes, Clock::time_point now) {
  moved_ = true;
  meter_.client_sent(bytes.size());
  if (waiting_since_) {
    append(held_, bytes);
  } else if (held_.empty()) {
    using_ = true;
    const std::size_t used = use(bytes, now);
    using_ = false;
    if (used < bytes.size() && !ending_ && !client_gone_)
      held_.assign(bytes.begin() + static_cast<std::ptrdiff_t>(used), bytes.end());
  } else {
    append(held_, bytes);
    use_held(now);
  }
  release_if_at_rest(now);
  if (may_read()) return read();
  if (reading_ == Reading::No || ending_) buffer_.reset();
}

void TransactionRelay::use_held(Clock::time_point now) {
  using_ = true;
  const std::size_t used = use(held_, now);
  using_ = false;
  if (ending_ || client_gone_ || used == held_.size())
    held_.clear();
  else
    held_.erase(held_.begin(), held_.begin() + static_cast<std::ptrdiff_t>(used));
}

std::size_t TransactionRelay::use(ByteView bytes, Clock::time_point now) {
  std::size_t used = 0;
  incomplete_ = false;
  while (used < bytes.size() && !ending_ && !client_gone_) {
    const ByteView rest = bytes.subspan(used);
    if (skip_ != Skip::Nothing) {
      used += skip(rest);
      continue;
    }
    if (server_ == nullptr) {
      if (const std::size_t dropped = drop_unserved(rest); dropped > 0) {
        used += dropped;
        continue;
      }
      if (ending_ || !to_client_.empty() || !begins_whole(rest)) break;
      if (rest.front() == std::byte{'X'}) {
        client_left(RelayEnd::ClientTerminated);
        break;
      }
      waiting_since_ = now;
      watched_ = false;
      if (PooledServer* const server = host_.server_wanted(rest, now)) begin(*server, now);
      if (waiting_since_) break;
      if (server_ == nullptr) continue;  // refused
    }
    if (hand_over_ || tracker_.full() || !to_server_.empty()) break;
    const std::size_t taken = forward(rest, now);
    used += taken;
    if (taken < rest.size()) break;
  }
  return used;
}

// Takes off the front what no server needs to see. Only while there is none.
std::size_t TransactionRelay::drop_unserved(ByteView bytes) {
  const std::size_t given = bytes.size();
  while (!bytes.empty()) {
    if (!skipped_.in_body()) {
      if (skipped_.at_boundary() &&
          (!unanswered(std::to_integer<char>(bytes.front())) || doubtful_flush(bytes)))
        break;
      if (!skipped_.take_header(bytes)) break;
      if (!skipped_.length_valid()) {
        finish(RelayEnd::ServerJudged);  // without a word, as PostgreSQL
        break;
      }
    }
    skipped_.take_body(bytes);
  }
  return given - bytes.size();
}

// Whether the first message is there as a whole, or at least as far as a buffer goes: so nobody holds a
// server with half a query. What is no message at all ends the session here, and costs no server connection.
bool TransactionRelay::begins_whole(ByteView bytes) {
  if (!known(std::to_integer<char>(bytes.front()))) {
    refuse_message("invalid frontend message type " +
                   std::to_string(std::to_integer<unsigned>(bytes.front())));
    return false;
  }
  HeaderWalker walker;
  ByteView rest = bytes;
  const bool header = walker.take_header(rest);
  if (header && !walker.length_valid()) {
    finish(RelayEnd::ServerJudged);  // without a word, as PostgreSQL
    return false;
  }
  incomplete_ = !header || (walker.body_left() > rest.size() && bytes.size() < buffers_.buffer_bytes());
  return !incomplete_;
}

// Drops what belongs to a request that was answered already.
std::size_t TransactionRelay::skip(ByteView bytes) {
  const std::size_t given = bytes.size();
  while (!bytes.empty() && skip_ != Skip::Nothing) {
    if (!skipped_.in_body()) {
      if (skipped_.at_boundary() && bytes.front() == std::byte{'X'}) {
        skip_ = Skip::Nothing;
        break;
      }
      const bool complete = skipped_.take_header(bytes);
      if (complete && (!skipped_.length_valid() || !known(skipped_.type()))) {
        refuse_message("invalid message");
        break;
      }
      if (!complete) break;
    }
    skipped_.take_body(bytes);
    if (skipped_.in_body()) break;
    const char type = skipped_.type();
    const bool ends = type == 'S' || (skip_ == Skip::Request && (type == 'Q' || type == 'F'));
    if (extended(type) || (type == 'H' && skipped_.body_bytes() > 0)) skip_ = Skip::Sync;
    if (!ends) continue;
    skip_ = Skip::Nothing;
    Bytes ready;
    protocol::append_ready_for_query(ready, 'I');
    send_to_client(ready);
  }
  return given - bytes.size();
}

}  // namespace sluice::router
