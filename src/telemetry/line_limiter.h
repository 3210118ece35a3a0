#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace sluice::log {

// Lets `kBurst` lines of one event through at once and then one per `kRefill`, so that a server that is away
// or a client that hammers cannot fill the disk. Remembers at most kEventsMax events; what does not fit
// shares one allowance, under the name "". Pure: time comes in.
class LineLimiter {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  static constexpr std::int64_t kBurst = 20;
  static constexpr std::chrono::milliseconds kRefill{500};
  static constexpr std::size_t kEventsMax = 256;
  static constexpr std::chrono::seconds kSilence{5};

  // Events whose lines were left out and that have not occurred for kSilence since: each once, with the
  // count of lines. At most kEventsMax.
  std::vector<std::pair<std::string, std::uint64_t>> settle(TimePoint now);
  // Empty: leave the line out. Else how many lines of this event were left out since the last one.
  std::optional<std::uint64_t> admit(std::string_view event, TimePoint now);
  std::uint64_t suppressed() const noexcept { return suppressed_; }

 private:
  struct Allowance {
    std::int64_t left = kBurst;
    TimePoint refilled{};
    TimePoint asked{};  // last
    std::uint64_t left_out = 0;
  };
  std::unordered_map<std::string, Allowance> allowances_;
  std::uint64_t suppressed_ = 0;
};

}  // namespace sluice::log
