#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include "base/bytes.h"
#include "net/buffer_pool.h"
#include "net/io_outcome.h"
#include "net/ring.h"
#include "net/stream.h"
#include "protocol/session_tracker.h"
#include "router/session_meter.h"

namespace sluice::router {

// Why a relay ended.
enum class RelayEnd {
  ClientTerminated,  // Terminate, with nothing owed
  ClientClosed,      // the client's end of file, with nothing owed or after the server finished what it had
  ClientFailed,      // reset, write failure, broken TLS
  ServerClosed,      // end of file, reset or broken bytes from the server
  ServerJudged,      // the server ended the session over a malformed message of the client
  Stopped,           // stop() was called
};

// The ring that a relay may receive from. A socket goes there with some reads behind it: moving to it and
// back costs as much as it saves in about ten, which sessions of one query do not live to see.
struct RelayRing {
  net::Ring* ring = nullptr;  // null: none here
  unsigned after_reads = 10;
};

// Moves bytes both ways between a client and its server connection until one of them ends the session.
// Each hop is one read into a pooled buffer, a walk over the message headers, and one write; what the
// other side does not take yet waits in the buffer, and nothing more is read from this side meanwhile. So a
// session holds at most two buffers whatever the size of its messages (on a ring also what the kernel had
// received before it was told to stop, Ring::kBuffers at the most), and none at all once it went idle. A
// client's half-close is passed on as one: PostgreSQL then ends as it would have with that client. Lifetime:
// the streams, the tracker, the meter and the pool outlive the relay; the relay outlives its completion.
// Thread: the one of the streams' executor.
class Relay {
 public:
  using Clock = std::chrono::steady_clock;
  using Completion = std::function<void(RelayEnd)>;

  // TLS streams keep off the ring.
  Relay(net::Stream& client, net::Stream& server, protocol::SessionTracker& tracker, net::BufferPool& buffers,
        SessionMeter& meter, RelayRing ring);
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;
  ~Relay();

  // `first` are bytes of the client that were read together with its start-up. `done` is called once, from
  // the event loop and never from within start() or stop(), when no operation of the relay is pending any
  // more.
  void start(ByteView first, Completion done);
  // Ends the relay at the next opportunity, with RelayEnd::Stopped.
  void stop();

  // To be called about once a second: gives the buffer of a direction back in which nothing moved since the
  // last call.
  void tick(Clock::time_point now);

  // When bytes last moved in either direction, to the precision of tick().
  Clock::time_point last_activity() const noexcept { return last_activity_; }
  // Since when the client has not taken bytes that wait for it; time_point::max() when it takes all.
  Clock::time_point client_stalled_since() const noexcept { return to_client_.blocked_since; }
  // After the completion: what the server sent and the client did not take any more. It comes before anything
  // else that the client is told.
  Bytes take_unsent() noexcept { return std::move(unsent_); }
  // The server answered bytes that break the protocol.
  bool server_malformed() const noexcept { return tracker_.backend_malformed(); }

 private:
  enum class Side { FromClient, FromServer };
  enum class State {
    Stopped,    // nothing pending: not started, or no more bytes will be read
    Reading,    // a read into the buffer is pending
    GoingIdle,  // that read was cancelled to give the buffer back
    Idle,       // waits for readability without a buffer
    Writing,    // waits until `to` takes more of the buffer
    Held,       // reads nothing until the server answered some of what it owes
  };
  struct Direction {
    Direction(Side s, net::Stream& f, net::Stream& t) : side(s), from(f), to(t) {}
    const Side side;
    net::Stream& from;
    net::Stream& to;
    std::optional<net::RingPort> port;  // of `from`
    unsigned reads = 0;                 // counted up to RelayRing::after_reads
    net::PooledBuffer buffer;
    std::size_t begin = 0;  // [begin, end) of the buffer waits to be written
    std::size_t end = 0;
    State state = State::Stopped;
    bool moved = false;  // since the last tick
    bool last = false;   // nothing is read after these bytes
    Clock::time_point blocked_since = Clock::time_point::max();
  };

  void give_back_if_quiet(Direction& d, const Direction& other);
  void take_backlog();
  Direction& opposite(Direction& d) noexcept { return &d == &from_client_ ? to_client_ : from_client_; }
  void read(Direction& d);
  void move_to_ring(Direction& d);
  void read_from_port(Direction& d);
  void on_port_closed(Direction& d);
  void on_writable(Direction& d, std::error_code ec);
  void wait_idle(Direction& d);
  void took(Direction& d, std::error_code ec, std::size_t count);
  void on_read(Direction& d, std::error_code ec, std::size_t count);
  void on_readable(Direction& d, std::error_code ec);
  void take(Direction& d, std::size_t count);
  void keep(Direction& d, std::size_t count);
  net::IoOutcome send(Direction& d, ByteView bytes);
  void write(Direction& d);
  // Why the server ended the session, while the client was there.
  RelayEnd server_end() const noexcept {
    return from_client_.last ? RelayEnd::ServerJudged : RelayEnd::ServerClosed;
  }
  void on_end_of_file(Direction& d);
  void client_left(Direction& d, RelayEnd end);
  void finish(RelayEnd end);
  void operation_done();

  net::BufferPool& buffers_;
  protocol::SessionTracker& tracker_;
  SessionMeter& meter_;
  const RelayRing ring_;
  Direction from_client_;
  Direction to_client_;
  Bytes backlog_;  // read together with the client's start-up, not yet taken
  Bytes unsent_;   // see take_unsent()
  Completion done_;
  Clock::time_point last_activity_{};
  RelayEnd end_ = RelayEnd::Stopped;
  RelayEnd client_end_ = RelayEnd::ClientClosed;  // how the client left, once it did
  int pending_ = 0;                               // operations that will call back
  bool client_gone_ = false;                      // it sends no more; the server finishes what it has
  bool ending_ = false;
};

}  // namespace sluice::router
