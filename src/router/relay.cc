#include "router/relay.h"

#include <algorithm>
#include <span>
#include <utility>

#include <asio/error.hpp>
#include <asio/post.hpp>

#include "base/assert.h"

namespace sluice::router {
namespace {

// What a client's Terminate looks like on the wire: a type byte and its own length.
constexpr std::string_view kTerminate("X\0\0\0\4", 5);

}  // namespace

Relay::Relay(net::Stream& client, net::Stream& server, protocol::SessionTracker& tracker,
             net::BufferPool& buffers, SessionMeter& meter, RelayRing ring)
    : buffers_(buffers),
      tracker_(tracker),
      meter_(meter),
      ring_(ring),
      from_client_(Side::FromClient, client, server),
      to_client_(Side::FromServer, server, client) {}

Relay::~Relay() {
  SLUICE_ASSERT(pending_ == 0);
}

void Relay::start(ByteView first, Completion done) {
  SLUICE_ASSERT(!done_);
  done_ = std::move(done);
  last_activity_ = Clock::now();
  // A session that begins has something to say: tick() takes the buffers back if not.
  read(to_client_);
  if (first.empty()) return read(from_client_);
  backlog_.assign(first.begin(), first.end());
  from_client_.buffer = buffers_.take();
  take_backlog();
}

void Relay::stop() {
  finish(RelayEnd::Stopped);
}

void Relay::tick(Clock::time_point now) {
  if (from_client_.moved || to_client_.moved) last_activity_ = now;
  if (from_client_.port && from_client_.port->send_failed()) return finish(RelayEnd::ClientFailed);
  give_back_if_quiet(from_client_, to_client_);
  give_back_if_quiet(to_client_, from_client_);
}

void Relay::give_back_if_quiet(Direction& d, const Direction& other) {
  if (std::exchange(d.moved, false) || ending_ || d.port || d.state != State::Reading) return;
  // cancel() ends every operation of a socket, also the wait of the other direction to write to it.
  if (other.state == State::Writing) return;
  d.state = State::GoingIdle;
  d.from.cancel();
}

// Bytes read with the client's start-up come before those still in its socket.
void Relay::take_backlog() {
  const std::span<std::byte> room = from_client_.buffer.span();
  const std::size_t count = std::min(room.size(), backlog_.size());
  std::copy_n(backlog_.begin(), count, room.begin());
  backlog_.erase(backlog_.begin(), backlog_.begin() + static_cast<std::ptrdiff_t>(count));
  take(from_client_, count);
}

void Relay::read(Direction& d) {
  if (d.side == Side::FromClient && !backlog_.empty()) {
    if (!d.buffer) d.buffer = buffers_.take();
    return take_backlog();
  }
  d.state = State::Reading;
  if (!d.port && ring_.ring != nullptr) move_to_ring(d);
  if (d.port) return read_from_port(d);
  if (!d.buffer) d.buffer = buffers_.take();
  ++pending_;
  d.from.async_read_some(d.buffer.span(),
                         [this, &d](std::error_code ec, std::size_t count) { on_read(d, ec, count); });
}

void Relay::move_to_ring(Direction& d) {
  if (d.reads < ring_.after_reads || opposite(d).state == State::Writing) return;
  net::move_to_ring(*ring_.ring, d.from, d.port);
}

// What is pending on a port ends when the port is closed, so it counts as no operation of its own.
void Relay::read_from_port(Direction& d) {
  d.buffer.reset();
  d.port->receive([this, &d](std::error_code ec, net::PooledBuffer buffer, std::size_t count) {
    d.buffer = std::move(buffer);
    took(d, ec, count);
  });
}

void Relay::wait_idle(Direction& d) {
  d.buffer.reset();
  d.state = State::Idle;
  ++pending_;
  d.from.async_wait_readable([this, &d](std::error_code ec) { on_readable(d, ec); });
}

void Relay::on_read(Direction& d, std::error_code ec, std::size_t count) {
  --pending_;
  if (ending_) {
    if (!ec) keep(d, count);
    return operation_done();
  }
  if (ec == asio::error::operation_aborted && d.state == State::GoingIdle) return wait_idle(d);
  took(d, ec, count);
}

void Relay::took(Direction& d, std::error_code ec, std::size_t count) {
  if (ec == asio::error::eof) return on_end_of_file(d);
  if (ec) return finish(d.side == Side::FromClient ? RelayEnd::ClientFailed : server_end());
  take(d, count);
}

void Relay::on_readable(Direction& d, std::error_code ec) {
  --pending_;
  if (ending_) return operation_done();
  if (ec) return finish(d.side == Side::FromClient ? RelayEnd::ClientFailed : server_end());
  d.buffer = buffers_.take();
  const net::IoOutcome outcome = d.from.try_read(d.buffer.span());
  switch (outcome.status) {
    case net::IoStatus::Ok:
      return take(d, outcome.bytes);
    case net::IoStatus::WouldBlock:
      return wait_idle(d);
    case net::IoStatus::Eof:
      return on_end_of_file(d);
    case net::IoStatus::Failed:
      return finish(d.side == Side::FromClient ? RelayEnd::ClientFailed : server_end());
  }
}

// A read that had succeeded before the end cancelled it: what the server said counts, for the client that is
// owed it and for whoever is to use the server connection next.
void Relay::keep(Direction& d, std::size_t count) {
  if (d.side == Side::FromClient) return;
  meter_.server_sent(count);
  tracker_.on_backend(ByteView(d.buffer.span().data(), count), Clock::now(), meter_);
  d.begin = 0;
  d.end = tracker_.backend_malformed() ? 0 : count;
}

// Scans `count` bytes at the front of the buffer and sends on what belongs to the other side.
void Relay::take(Direction& d, std::size_t count) {
  d.moved = true;
  if (d.reads < ring_.after_reads) ++d.reads;
  d.begin = 0;
  d.end = count;
  const ByteView bytes(d.buffer.span().data(), count);
  const Clock::time_point now = Clock::now();
  if (d.side == Side::FromClient) {
    meter_.client_sent(count);
    const protocol::SessionTracker::FrontendScan scan = tracker_.on_frontend(bytes, now, meter_);
    d.end = scan.forward_bytes;
    switch (scan.end) {
      case protocol::SessionTracker::FrontendEnd::None:
        break;
      case protocol::SessionTracker::FrontendEnd::Terminate:
        client_end_ = RelayEnd::ClientTerminated;
        client_gone_ = true;
        break;
      case protocol::SessionTracker::FrontendEnd::Malformed:
        d.last = true;  // the server judges the bad header as it would without us, and closes
        break;
    }
  } else {
    meter_.server_sent(count);
    tracker_.on_backend(bytes, now, meter_);
    if (tracker_.backend_malformed()) {
      d.end = 0;  // the client gets none of it
      return finish(RelayEnd::ServerClosed);
    }
  }
  write(d);
}

net::IoOutcome Relay::send(Direction& d, ByteView bytes) {
  auto& port = opposite(d).port;
  return port ? port->try_send(bytes) : d.to.try_write(bytes);
}

void Relay::write(Direction& d) {
  while (d.begin < d.end) {
    const ByteView rest(d.buffer.span().data() + d.begin, d.end - d.begin);
    const net::IoOutcome outcome = send(d, rest);
    if (outcome.status == net::IoStatus::Ok) {
      d.begin += outcome.bytes;
      continue;
    }
    if (outcome.status == net::IoStatus::WouldBlock) {
      if (d.blocked_since == Clock::time_point::max()) d.blocked_since = Clock::now();
      d.state = State::Writing;
      if (auto& port = opposite(d).port)
        return port->wait_writable([this, &d](std::error_code ec) { on_writable(d, ec); });
      ++pending_;
      d.to.async_wait_writable([this, &d](std::error_code ec) {
        --pending_;
        if (ending_) return operation_done();
        on_writable(d, ec);
      });
      return;
    }
    if (d.side == Side::FromServer) return finish(RelayEnd::ClientFailed);
    // The server takes no more, but its last words (a FATAL) may still be on their way: they end the relay.
    d.buffer.reset();
    d.state = State::Stopped;
    return;
  }
  if (d.blocked_since != Clock::time_point::max()) {
    if (d.side == Side::FromServer) tracker_.on_stall(Clock::now() - d.blocked_since);
    d.blocked_since = Clock::time_point::max();
    d.moved = true;
  }
  if (d.side == Side::FromServer) {
    if (from_client_.state == State::Held && !tracker_.full()) read(from_client_);
    return read(d);
  }
  if (client_gone_) return client_left(d, client_end_);
  if (d.last) {
    d.buffer.reset();
    d.state = State::Stopped;
    return;
  }
  if (tracker_.full()) {
    d.buffer.reset();
    d.state = State::Held;
    return;
  }
  read(d);
}

void Relay::on_writable(Direction& d, std::error_code ec) {
  if (ec) return finish(d.side == Side::FromClient ? RelayEnd::ServerClosed : RelayEnd::ClientFailed);
  write(d);
}

void Relay::on_end_of_file(Direction& d) {
  if (d.side == Side::FromServer) return finish(client_gone_ ? client_end_ : server_end());
  client_gone_ = true;
  client_left(d, RelayEnd::ClientClosed);
}

// The client sends no more. With nothing owed to it the session is over and the server may serve another;
// else the server gets the same end, so that it finishes, rolls back or complains just as it would have with
// that client.
void Relay::client_left(Direction& d, RelayEnd end) {
  client_end_ = end;
  d.buffer.reset();
  d.state = State::Stopped;
  if (tracker_.ready_for_reset()) return finish(end);
  if (end == RelayEnd::ClientTerminated) {
    const net::IoOutcome outcome = send(d, as_bytes(kTerminate));
    if (outcome.status == net::IoStatus::Ok && outcome.bytes == kTerminate.size()) return;
  }
  if (auto& port = opposite(d).port) return port->shutdown_send();
  d.to.shutdown_send();
}

void Relay::finish(RelayEnd end) {
  if (ending_) return;
  ending_ = true;
  end_ = end;
  for (Direction* d : {&from_client_, &to_client_}) {
    if (d->port) {
      ++pending_;
      d->port->close([this, d] { on_port_closed(*d); });
    } else {
      d->from.cancel();
    }
  }
  // Counted as an operation, so that the completion never runs inside the caller.
  ++pending_;
  asio::post(from_client_.from.get_executor(), [this] {
    --pending_;
    operation_done();
  });
}

void Relay::on_port_closed(Direction& d) {
  while (std::optional<net::RingPort::Received> last = d.port->take_unasked()) {
    if (d.side == Side::FromClient) continue;
    meter_.server_sent(last->count);
    const ByteView bytes(last->buffer.span().data(), last->count);
    tracker_.on_backend(bytes, Clock::now(), meter_);
    if (!tracker_.backend_malformed()) append(unsent_, bytes);
  }
  --pending_;
  operation_done();
}

void Relay::operation_done() {
  if (pending_ > 0) return;
  if (to_client_.begin < to_client_.end) {
    const ByteView rest(to_client_.buffer.span().data() + to_client_.begin,
                        to_client_.end - to_client_.begin);
    unsent_.insert(unsent_.begin(), rest.begin(), rest.end());
  }
  if (from_client_.port) {
    const Bytes taken = from_client_.port->take_unsent();
    unsent_.insert(unsent_.begin(), taken.begin(), taken.end());
  }
  for (Direction* d : {&from_client_, &to_client_}) {
    d->buffer.reset();
    net::leave_ring(d->port, d->from);
  }
  const Completion done = std::move(done_);
  done(end_);
}

}  // namespace sluice::router
