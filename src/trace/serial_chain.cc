#include "trace/serial_chain.h"

#include <algorithm>

namespace sluice::trace {
namespace {

// Among equal ends the one without duration comes last: it may follow the others.
constexpr auto kByEnd = [](const auto& a, const auto& b) {
  return a.end != b.end ? a.end < b.end : a.begin < b.begin;
};

constexpr std::size_t kReserved = 4;

}  // namespace

void SerialChain::add(TimePoint begin, TimePoint end) {
  const Interval call{begin, std::max(begin, end)};
  if (!more_) {
    if (held() == 0) {
      only_ = call;
      return;
    }
    more_ = std::make_unique<More>();
    more_->calls.reserve(kReserved);
    more_->calls.push_back(only_);
  }
  if (more_->calls.size() == kCallsMax) settle_half();
  more_->calls.push_back(call);
}

std::uint32_t SerialChain::length() const {
  if (!more_) return held() == 0 ? 0 : 1;
  Chain chain = more_->settled;
  const auto extend = [&chain](const std::vector<Interval>& calls) {
    for (const Interval& call : calls)
      chain.extend(call);
  };
  if (std::is_sorted(more_->calls.begin(), more_->calls.end(), kByEnd)) {
    extend(more_->calls);
  } else {
    std::vector<Interval> calls = more_->calls;
    std::sort(calls.begin(), calls.end(), kByEnd);
    extend(calls);
  }
  return chain.length;
}

void SerialChain::settle_half() {
  auto& calls = more_->calls;
  const auto middle = calls.begin() + static_cast<std::ptrdiff_t>(kCallsMax / 2);
  std::sort(calls.begin(), calls.end(), kByEnd);
  for (auto call = calls.begin(); call != middle; ++call)
    more_->settled.extend(*call);
  calls.erase(calls.begin(), middle);
}

}  // namespace sluice::trace
