#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace sluice::router {

// One look at a client's socket that had measured something since the look before.
struct LegReading {
  std::chrono::nanoseconds minimum{}, smoothed{}, deviation{};
  std::chrono::steady_clock::time_point at{};
  bool young = false;  // the connection was opened within the last minute
};

// The way between the router and one compute host's clients: what their sockets say, made robust.
//
// What is taken of a socket is its least round trip. The smoothed one holds delayed acknowledgements: a
// client that has nothing to say acknowledges a short answer after up to 40 ms, or together with its next
// query, so the sample is the round trip plus the client's thinking. The kernel keeps suspected ones out of
// the least, and the handshake, whose acknowledgement never waits, is in it. Over sockets the median is
// taken: one client behind a tunnel, or one whose socket alone had luck, moves nothing. A socket's least
// round trip outlives a change of the path for the worse by the kernel's window (five minutes). So where at
// least kYoungEnough readings are of connections opened within a minute, only those count.
//
// Shape: the last kKept readings, none older than kSpan before the newest. All zero before the first. Pure.
class LegEstimator {
 public:
  static constexpr std::size_t kKept = 64;
  static constexpr std::chrono::seconds kSpan{30};
  static constexpr std::size_t kYoungEnough = 3;

  struct Leg {
    std::chrono::nanoseconds estimate{};  // median of the least round trips
    std::chrono::nanoseconds minimum{};   // the least of them
    std::chrono::nanoseconds smoothed{};  // median of the smoothed ones, for people: delayed acknowledgements
    std::chrono::nanoseconds deviation{};  // median
    std::uint64_t samples = 0;             // readings ever
    std::chrono::steady_clock::time_point measured_at{};
  };

  void add(const LegReading& reading) noexcept;
  Leg leg() const;

 private:
  std::array<LegReading, kKept> readings_{};
  std::size_t next_ = 0;
  std::uint64_t total_ = 0;
};

}  // namespace sluice::router
