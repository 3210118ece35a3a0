#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "trace/call.h"

namespace sluice::trace {

// N_serial of one request: the greatest number of its calls that ran one after another. Calls a and b are one
// after another when b.begin >= a.end, so parallel and pipelined calls count once.
// Source: the interval scheduling problem; taking intervals by their end, each that begins at or after the
// end
//         of the one taken last, gives a longest chain (Kleinberg and Tardos, "Algorithm Design", 2005, 4.1).
// Shape:  calls come in any order. At most kCallsMax are held; when there are more, the half that ended first
//         is settled, which is exact unless a call comes later still that ended before that half did. O(n log
//         n).
class SerialChain {
 public:
  static constexpr std::size_t kCallsMax = 256;

  void add(TimePoint begin, TimePoint end);
  std::uint32_t length() const;
  // Calls held now, for the owner's bound on memory.
  std::size_t held() const noexcept { return calls_.size(); }

 private:
  struct Interval {
    TimePoint begin, end;
  };
  // A chain of what has been looked at, in the order of its ends.
  struct Chain {
    std::uint32_t length = 0;
    TimePoint end = TimePoint::min();
    void extend(const Interval& call) noexcept {
      if (call.begin < end) return;
      ++length;
      end = call.end;
    }
  };
  void settle_half();

  std::vector<Interval> calls_;
  Chain settled_;
};

}  // namespace sluice::trace
