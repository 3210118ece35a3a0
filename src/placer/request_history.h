#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

namespace sluice::placer {

// Where requests went over the last hour, for those who begin to look now. Pure.
// Shape:  kSamplesMax samples, kStep apart.
class RequestHistory {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  using WallTime = std::chrono::system_clock::time_point;
  static constexpr std::chrono::seconds kStep{10};
  static constexpr std::size_t kSamplesMax = 360;

  struct OfHost {
    std::string name;
    std::int64_t requests = 0;  // since the start, or since the sample before
  };
  struct Sample {
    WallTime time{};
    std::vector<OfHost> hosts;  // since the sample before
    bool degraded = false;      // some route was not placed by the wanted policy
  };

  bool due(TimePoint now) const noexcept { return samples_.empty() || now - last_ >= kStep; }
  // `totals` are since the start.
  void add(TimePoint now, WallTime time, const std::vector<OfHost>& totals, bool degraded);
  const std::deque<Sample>& samples() const noexcept { return samples_; }

 private:
  std::deque<Sample> samples_;
  TimePoint last_{};
  std::map<std::string, std::int64_t> before_;
};

}  // namespace sluice::placer
