#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

namespace sluice::cluster {

// Turns WAL positions into replay lag in time, from when the positions were seen. Timestamps of the last
// replayed transaction cannot do it alone: on an idle primary they only grow older, and one new record would
// make a healthy replica look hours behind; and they compare two machines' clocks.
// The head is the primary's position, or where that is not known what the replica has received.
// Shape: at most kHistoryMax positions. A head that goes back (a failover) starts a new history. Pure.
class LagEstimator {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  static constexpr std::size_t kHistoryMax = 512;

  void on_head(std::uint64_t position, TimePoint seen);

  std::optional<std::uint64_t> head() const noexcept;
  // WAL from `replayed` to the head; 0 when it has all. Empty before any head.
  std::optional<std::uint64_t> bytes_behind(std::uint64_t replayed) const noexcept;
  // How long ago the first WAL was seen that the replica has not replayed; 0 when it has all. Where the
  // replica is behind all of the history, `by_timestamp` (now minus its last replayed commit) if that is
  // more.
  std::optional<std::chrono::milliseconds> time_behind(
      std::uint64_t replayed, TimePoint now, std::optional<std::chrono::milliseconds> by_timestamp) const;

 private:
  struct Seen {
    std::uint64_t position;
    TimePoint at;
  };
  std::deque<Seen> history_;  // both ascending
};

}  // namespace sluice::cluster
