#include "telemetry/line_limiter.h"

#include <algorithm>
#include <utility>

namespace sluice::log {

std::optional<std::uint64_t> LineLimiter::admit(std::string_view event, TimePoint now) {
  std::string key(event);
  if (allowances_.size() >= kEventsMax && !allowances_.contains(key)) key.clear();
  const auto [entry, created] = allowances_.try_emplace(std::move(key));
  Allowance& allowance = entry->second;
  if (created) allowance.refilled = now;

  allowance.asked = now;
  const std::int64_t earned = (now - allowance.refilled) / kRefill;
  if (earned > 0) {
    allowance.left = std::min(kBurst, allowance.left + std::min(earned, kBurst));
    allowance.refilled += earned * kRefill;
  }
  if (allowance.left == 0) {
    ++allowance.left_out;
    ++suppressed_;
    return std::nullopt;
  }
  --allowance.left;
  return std::exchange(allowance.left_out, 0);
}

std::vector<std::pair<std::string, std::uint64_t>> LineLimiter::settle(TimePoint now) {
  std::vector<std::pair<std::string, std::uint64_t>> settled;
  for (auto& [event, allowance] : allowances_)
    if (allowance.left_out > 0 && now - allowance.asked >= kSilence)
      settled.emplace_back(event, std::exchange(allowance.left_out, 0));
  return settled;
}

}  // namespace sluice::log
