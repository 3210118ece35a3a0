#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
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
//         n). A request of one call, which is most of them where the database is asked little, allocates
//         nothing.
class SerialChain {
 public:
  static constexpr std::size_t kCallsMax = 256;

  void add(TimePoint begin, TimePoint end);
  std::uint32_t length() const;
  // Calls held now, for the owner's bound on memory.
  std::size_t held() const noexcept { return more_ ? more_->calls.size() : only_.end >= only_.begin ? 1 : 0; }

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
  // From the second call on.
  struct More {
    std::vector<Interval> calls;
    Chain settled;
  };
  void settle_half();

  // The only call, while `more_` is null; ends before it begins while there is none.
  Interval only_{TimePoint::max(), TimePoint::min()};
  std::unique_ptr<More> more_;
};

}  // namespace sluice::trace
