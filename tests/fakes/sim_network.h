#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "base/bytes.h"
#include "tests/fakes/sim_clock.h"
#include "tests/fakes/sim_connection.h"

namespace sluice::fakes {

// The far end of a connection of the code under test: a client or a server that a test plays. It takes what
// arrives at once, unless it is paused; what the way does not take yet waits here.
class SimPeer {
 public:
  explicit SimPeer(SimConnection& connection);
  SimPeer(const SimPeer&) = delete;
  SimPeer& operator=(const SimPeer&) = delete;

  void send(ByteView bytes);
  void shutdown_send();  // behind what was sent
  // As close(2) of a process that ends: behind what was sent; a reset for what arrives afterwards, and at
  // once where something was not read.
  void close();
  void reset();
  void pause() { paused_ = true; }  // reads nothing more
  void resume();

  const Bytes& received() const noexcept { return received_; }
  Bytes take_received() { return std::exchange(received_, {}); }
  bool ended() const noexcept { return !paused_ && connection_.to_peer.ended(); }
  // The code has ended its direction, whether or not this end has read all that came before.
  bool hung_up() const noexcept { return connection_.to_peer.ended() || was_reset(); }
  bool was_reset() const noexcept { return connection_.peer_was_reset; }
  bool closed() const noexcept { return closed_; }
  bool accepted() const noexcept { return connection_.accepted; }
  const Address& address() const noexcept { return connection_.peer_address; }
  std::size_t unsent() const noexcept { return outbox_.size(); }
  std::uint64_t sent_total() const noexcept { return connection_.to_code.written(); }
  // Bytes that the code has sent and this end has not read.
  std::uint64_t unread() const noexcept {
    return connection_.to_peer.written() - connection_.to_peer.total_read();
  }

  // After bytes, an end or a reset has arrived.
  std::function<void()> on_change;

 private:
  enum class End { Open, Shutdown, Closed };
  void take();
  void push();

  SimConnection& connection_;
  Bytes received_;
  Bytes outbox_;
  End wanted_ = End::Open;  // once the outbox is empty
  bool end_sent_ = false;
  bool closed_ = false;
  bool paused_ = false;
};

// The addresses of a simulated network, behind the system calls of sim_kernel.h. Whatever it gives out lives
// as long as it does.
class SimNetwork {
 public:
  SimNetwork(SimClock& clock, Random& random) : clock_(clock), random_(random) {}
  SimNetwork(const SimNetwork&) = delete;
  SimNetwork& operator=(const SimNetwork&) = delete;

  // For connections that are made from now on.
  Route to_code{};
  Route to_peer{};

  // What connects to that address finds: somebody (on_connect plays the far end), nobody (refused, as at an
  // address that was never named), or silence.
  void serve(const Address& address, std::function<void(SimPeer&)> on_connect);
  void refuse(const Address& address);
  void swallow(const Address& address);
  // A client of the code under test. Where nobody listens it is reset.
  SimPeer& connect(const Address& from, const Address& to);

  // The code's side; addresses are those of its own sockets.
  using OnArrival = std::function<void(SimConnection&)>;
  bool listen(const Address& address, OnArrival on_arrival);  // false: in use
  void unlisten(const Address& address) { listeners_.erase(address); }
  // `done` is called with an errno, or with a connection and 0; never when the address swallows.
  void dial(const Address& from, const Address& to, std::function<void(int, SimConnection*)> done);

 private:
  SimConnection& make(const Address& peer, const Address& code);
  std::chrono::nanoseconds handshake_time();

  SimClock& clock_;
  Random& random_;
  std::map<Address, std::function<void(SimPeer&)>> served_;
  std::set<Address> swallowed_;
  std::map<Address, OnArrival> listeners_;
  std::deque<SimConnection> connections_;
  std::deque<SimPeer> peers_;
};

}  // namespace sluice::fakes
