#pragma once

#include <chrono>

namespace sluice::bench {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

inline Clock::duration to_clock(double seconds) {
  return std::chrono::duration_cast<Clock::duration>(Seconds(seconds));
}
inline std::chrono::milliseconds to_ms(double seconds) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(Seconds(seconds));
}

}  // namespace sluice::bench
