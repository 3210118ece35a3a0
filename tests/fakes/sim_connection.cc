#include "tests/fakes/sim_connection.h"

#include <algorithm>
#include <utility>

namespace sluice::fakes {
namespace {

// Between two pieces of what was sent at once: long enough to be told apart, short for every timeout.
constexpr std::chrono::nanoseconds kPieceGap{1'000};

}  // namespace

SimClock::TimePoint SimPipe::next_arrival() {
  const auto spread = static_cast<std::uint64_t>((route_.delay_max - route_.delay_min).count());
  const auto extra = spread == 0 ? 0 : random_() % (spread + 1);
  const SimClock::TimePoint drawn =
      clock_.peek() + route_.delay_min + std::chrono::nanoseconds(static_cast<std::int64_t>(extra));
  return last_arrival_ = std::max(drawn, last_arrival_ + kPieceGap);
}

std::size_t SimPipe::write(ByteView bytes) {
  ByteView rest = bytes.first(std::min(bytes.size(), room()));
  const std::size_t count = rest.size();
  while (!rest.empty()) {
    std::size_t size = std::min(rest.size(), route_.piece_bytes_max);
    if (route_.random_pieces) size = 1 + random_() % size;
    if (route_.cut && written_ < *route_.cut) size = std::min<std::size_t>(size, *route_.cut - written_);
    SimClock::TimePoint when = next_arrival();
    if (route_.cut && written_ == *route_.cut) when = last_arrival_ += std::chrono::seconds(1);
    travelling_ += size;
    written_ += size;
    clock_.at(when, [this, piece = Bytes(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(size))] {
      travelling_ -= piece.size();
      append(arrived_, piece);
      if (on_arrival) on_arrival();
    });
    rest = rest.subspan(size);
  }
  return count;
}

void SimPipe::finish() {
  clock_.at(next_arrival(), [this] {
    end_arrived_ = true;
    if (on_arrival) on_arrival();
  });
}

std::size_t SimPipe::room() const noexcept {
  const std::size_t held = travelling_ + available();
  return held >= route_.window_bytes ? 0 : route_.window_bytes - held;
}

void SimPipe::behind_all(std::function<void()> action) {
  clock_.at(next_arrival(), std::move(action));
}

std::size_t SimPipe::read(std::span<std::byte> into, bool peek) {
  const std::size_t count = std::min(into.size(), available());
  std::copy_n(arrived_.begin() + static_cast<std::ptrdiff_t>(taken_), count, into.begin());
  if (peek || count == 0) return count;
  taken_ += count;
  read_ += count;
  if (2 * taken_ >= arrived_.size()) {
    arrived_.erase(arrived_.begin(), arrived_.begin() + static_cast<std::ptrdiff_t>(taken_));
    taken_ = 0;
  }
  if (on_room) on_room();
  return count;
}

Bytes SimPipe::read_all() {
  Bytes all(available());
  read(all, false);
  return all;
}

void SimConnection::reset_peer() {
  to_peer.behind_all([this] {
    if (std::exchange(peer_was_reset, true)) return;
    if (on_peer_reset) on_peer_reset();
  });
}

void SimConnection::reset_code() {
  to_code.behind_all([this] {
    if (std::exchange(code_was_reset, true)) return;
    if (on_code_reset) on_code_reset();
  });
}

}  // namespace sluice::fakes
