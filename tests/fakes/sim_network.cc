#include "tests/fakes/sim_network.h"

#include <cerrno>
#include <utility>

namespace sluice::fakes {

SimPeer::SimPeer(SimConnection& connection) : connection_(connection) {
  connection_.to_peer.on_arrival = [this] {
    take();
    if (on_change) on_change();
  };
  connection_.to_code.on_room = [this] { push(); };
  connection_.on_peer_reset = [this] {
    outbox_.clear();
    if (on_change) on_change();
  };
}

void SimPeer::take() {
  if (closed_) {
    // A process that is gone: its system answers for it.
    if (!connection_.to_peer.read_all().empty()) connection_.reset_code();
    return;
  }
  if (!paused_) append(received_, connection_.to_peer.read_all());
}

void SimPeer::resume() {
  paused_ = false;
  take();
  if (on_change) on_change();
}

void SimPeer::send(ByteView bytes) {
  if (wanted_ != End::Open || was_reset()) return;
  append(outbox_, bytes);
  push();
}

void SimPeer::push() {
  if (was_reset()) return;
  const std::size_t count = connection_.to_code.write(outbox_);
  outbox_.erase(outbox_.begin(), outbox_.begin() + static_cast<std::ptrdiff_t>(count));
  if (!outbox_.empty() || wanted_ == End::Open || std::exchange(end_sent_, true)) return;
  connection_.to_code.finish();
}

void SimPeer::shutdown_send() {
  if (wanted_ == End::Open) wanted_ = End::Shutdown;
  push();
}

void SimPeer::close() {
  if (std::exchange(closed_, true)) return;
  if (connection_.to_peer.available() > 0) return connection_.reset_code();
  wanted_ = End::Closed;
  push();
}

void SimPeer::reset() {
  closed_ = true;
  wanted_ = End::Closed;
  outbox_.clear();
  connection_.reset_code();
}

SimConnection& SimNetwork::make(const Address& peer, const Address& code) {
  SimConnection& made = connections_.emplace_back(clock_, random_, to_code, to_peer);
  made.peer_address = peer;
  made.code_address = code;
  return made;
}

std::chrono::nanoseconds SimNetwork::handshake_time() {
  return to_peer.delay_min + to_code.delay_min;
}

void SimNetwork::serve(const Address& address, std::function<void(SimPeer&)> on_connect) {
  swallowed_.erase(address);
  served_.insert_or_assign(address, std::move(on_connect));
}

void SimNetwork::refuse(const Address& address) {
  swallowed_.erase(address);
  served_.erase(address);
}

void SimNetwork::swallow(const Address& address) {
  served_.erase(address);
  swallowed_.insert(address);
}

SimPeer& SimNetwork::connect(const Address& from, const Address& to) {
  SimConnection& connection = make(from, to);
  SimPeer& peer = peers_.emplace_back(connection);
  clock_.at(clock_.peek() + handshake_time(), [this, &connection] {
    const auto found = listeners_.find(connection.code_address);
    if (found == listeners_.end()) return connection.reset_peer();
    found->second(connection);
  });
  return peer;
}

bool SimNetwork::listen(const Address& address, OnArrival on_arrival) {
  return listeners_.emplace(address, std::move(on_arrival)).second;
}

void SimNetwork::dial(const Address& from, const Address& to, std::function<void(int, SimConnection*)> done) {
  if (swallowed_.contains(to)) return;
  clock_.at(clock_.peek() + handshake_time(), [this, from, to, done = std::move(done)] {
    const auto found = served_.find(to);
    if (found == served_.end()) return done(ECONNREFUSED, nullptr);
    SimConnection& connection = make(to, from);
    connection.accepted = true;
    SimPeer& peer = peers_.emplace_back(connection);
    done(0, &connection);
    const auto on_connect = found->second;
    on_connect(peer);
  });
}

}  // namespace sluice::fakes
