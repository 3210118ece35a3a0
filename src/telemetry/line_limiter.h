#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace sluice::log {

// Lets `kBurst` lines of one event through at once and then one per `kRefill`, so that a server that is away
// or a client that hammers cannot fill the disk. Remembers at most kEventsMax events; what does not fit
// shares one allowance. Pure: time comes in.
class LineLimiter {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  static constexpr std::int64_t kBurst = 20;
  static constexpr std::chrono::milliseconds kRefill{500};
  static constexpr std::size_t kEventsMax = 256;

  // Empty: leave the line out. Else how many lines of this event were left out since the last one.
  std::optional<std::uint64_t> admit(std::string_view event, TimePoint now);
  std::uint64_t suppressed() const noexcept { return suppressed_; }

 private:
  struct Allowance {
    std::int64_t left = kBurst;
    TimePoint refilled{};
    std::uint64_t left_out = 0;
  };
  std::unordered_map<std::string, Allowance> allowances_;
  std::uint64_t suppressed_ = 0;
};

}  // namespace sluice::log
