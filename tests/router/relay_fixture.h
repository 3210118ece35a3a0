#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include <asio/awaitable.hpp>
#include <asio/io_context.hpp>
#include <gtest/gtest.h>

#include "net/buffer_pool.h"
#include "net/ring.h"
#include "net/stream.h"
#include "protocol/session_tracker.h"
#include "router/relay.h"
#include "router/session_meter.h"
#include "telemetry/metrics.h"

namespace sluice::router::test {

// Ring: plain, received through io_uring where the kernel has it, at once or after some reads.
enum class Kind { Plain, Ring, RingLater, Tls };

const char* name_of(Kind kind);

// A relay between two connections whose far ends, client() and server(), the test plays.
class RelayOf : public testing::TestWithParam<Kind> {
 protected:
  void SetUp() override;
  void TearDown() override;

  net::Stream& client() { return client_ends->first; }
  net::Stream& server() { return server_ends->second; }

  // As a session does it: both connections are closed when the relay has ended.
  void start(ByteView first = {});
  // Waits for the end.
  RelayEnd end();
  // Lets the event loop do what can be done at once.
  void settle();

  // Buffers that the relay has.
  std::size_t held() const noexcept { return pool.lent() - ring_buffers; }

  // At most: the one on its way in each direction; on a ring also what came before the kernel was told to
  // stop, and the one that it had begun with then.
  std::size_t held_max() const noexcept { return ring ? 2 + net::Ring::kBuffers + 1 : 2; }
  // By a session that was just busy; a ring gives a buffer only with bytes in it.
  std::size_t held_while_waiting() const noexcept { return GetParam() == Kind::Ring ? 0 : 2; }

  // Steps of a far end.
  asio::awaitable<void> send(net::Stream& stream, Bytes bytes);
  asio::awaitable<Bytes> receive(net::Stream& stream, std::size_t count);
  asio::awaitable<Bytes> receive_all(net::Stream& stream);
  // One step from outside a coroutine.
  void send_now(net::Stream& stream, Bytes bytes);
  Bytes receive_now(net::Stream& stream, std::size_t count);
  Bytes receive_all_now(net::Stream& stream);
  // Writes until nothing is taken any more; what was written.
  Bytes fill(net::Stream& stream, ByteView message);

  asio::io_context io{1};
  net::BufferPool pool;
  std::unique_ptr<net::Ring> ring;
  std::size_t ring_buffers = 0;  // that the ring has taken out of the pool
  telemetry::ThreadMetrics metrics{telemetry::Extents{1, 1, 1}};
  SessionMeter meter{metrics};
  protocol::SessionTracker tracker;
  std::optional<std::pair<net::Stream, net::Stream>> client_ends;  // the client's, the relay's
  std::optional<std::pair<net::Stream, net::Stream>> server_ends;  // the relay's, the server's
  std::optional<Relay> relay;
  std::optional<RelayEnd> ended;
  Bytes unsent;  // that the relay left behind at its end
};

// Messages.
Bytes query(std::string_view sql);
Bytes parse_and_sync();
Bytes terminate();
Bytes answer(std::string_view tag, char status = 'I');  // CommandComplete and ReadyForQuery
Bytes parsed_and_ready();                               // ParseComplete and ReadyForQuery
Bytes data_row(std::size_t size, unsigned seed);
Bytes fatal(std::string_view message);
Bytes joined(Bytes a, ByteView b);

}  // namespace sluice::router::test
