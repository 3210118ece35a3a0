#include "trace/serial_chain.h"

#include <algorithm>

namespace sluice::trace {
namespace {

// Among equal ends the one without duration comes last: it may follow the others.
constexpr auto kByEnd = [](const auto& a, const auto& b) {
  return a.end != b.end ? a.end < b.end : a.begin < b.begin;
};

}  // namespace

void SerialChain::add(TimePoint begin, TimePoint end) {
  if (calls_.size() == kCallsMax) settle_half();
  calls_.push_back({begin, std::max(begin, end)});
}

std::uint32_t SerialChain::length() const {
  std::vector<Interval> calls = calls_;
  std::sort(calls.begin(), calls.end(), kByEnd);
  Chain chain = settled_;
  for (const Interval& call : calls)
    chain.extend(call);
  return chain.length;
}

void SerialChain::settle_half() {
  const auto middle = calls_.begin() + static_cast<std::ptrdiff_t>(kCallsMax / 2);
  std::sort(calls_.begin(), calls_.end(), kByEnd);
  for (auto call = calls_.begin(); call != middle; ++call)
    settled_.extend(*call);
  calls_.erase(calls_.begin(), middle);
}

}  // namespace sluice::trace
