#pragma once

#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <random>
#include <span>
#include <string>

#include "base/bytes.h"
#include "tests/fakes/sim_clock.h"

namespace sluice::fakes {

using Random = std::mt19937_64;

struct Address {
  std::string host{};  // numeric IPv4
  std::uint16_t port = 0;
  friend auto operator<=>(const Address&, const Address&) = default;
};

// How bytes travel in one direction. Delays are drawn anew for every piece; the order is kept always.
struct Route {
  std::chrono::nanoseconds delay_min{10'000};
  std::chrono::nanoseconds delay_max{10'000};
  // What is sent at once arrives in pieces of at most this size, a moment apart: 1 is byte by byte.
  std::size_t piece_bytes_max = std::numeric_limits<std::size_t>::max();
  bool random_pieces = false;        // of 1 to piece_bytes_max bytes
  std::optional<std::size_t> cut{};  // what comes behind that many bytes of the stream arrives a second later
  std::size_t window_bytes = 64 * 1024;  // sent and not yet read; more is not taken from the sender
};

// One direction of a connection: a byte stream with an end, as TCP keeps it.
class SimPipe {
 public:
  SimPipe(SimClock& clock, Random& random, Route route) : clock_(clock), random_(random), route_(route) {}

  // The sender's side. How many of the bytes were taken.
  std::size_t write(ByteView bytes);
  void finish();  // the end, behind what was written
  std::size_t room() const noexcept;
  std::uint64_t written() const noexcept { return written_; }
  // `action` happens when all that was written before has arrived.
  void behind_all(std::function<void()> action);

  // The receiver's side.
  std::size_t read(std::span<std::byte> into, bool peek);
  Bytes read_all();
  std::size_t available() const noexcept { return arrived_.size() - taken_; }
  bool ended() const noexcept { return end_arrived_; }
  std::uint64_t total_read() const noexcept { return read_; }

  std::function<void()> on_arrival;  // bytes or the end
  std::function<void()> on_room;     // after a read

 private:
  SimClock::TimePoint next_arrival();

  SimClock& clock_;
  Random& random_;
  const Route route_;
  SimClock::TimePoint last_arrival_{};
  Bytes arrived_;
  std::size_t taken_ = 0;  // of arrived_
  std::size_t travelling_ = 0;
  std::uint64_t written_ = 0;
  std::uint64_t read_ = 0;
  bool end_arrived_ = false;
};

// A connection between the code under test, which has a descriptor of it, and a peer that a test plays. Lives
// as long as its network: what travels refers to it.
struct SimConnection {
  SimConnection(SimClock& clock, Random& random, Route inbound, Route outbound)
      : to_code(clock, random, inbound), to_peer(clock, random, outbound) {}

  // An abortive end, told to the other side behind what travels there. It has no effect on an end that is
  // gone.
  void reset_peer();
  void reset_code();

  Address peer_address{};
  Address code_address{};
  SimPipe to_code;
  SimPipe to_peer;
  bool peer_was_reset = false;  // a reset has arrived there
  bool code_was_reset = false;
  bool accepted = false;  // by the code; always true for connections that it opened
  std::function<void()> on_peer_reset;
  std::function<void()> on_code_reset;
};

}  // namespace sluice::fakes
