#include "placer/request_history.h"

#include <algorithm>

namespace sluice::placer {

void RequestHistory::add(TimePoint now, WallTime time, const std::vector<OfHost>& totals, bool degraded) {
  Sample sample{time, totals, degraded};
  std::map<std::string, std::int64_t> totals_now;
  for (OfHost& host : sample.hosts) {
    const auto known = before_.find(host.name);
    totals_now[host.name] = host.requests;
    host.requests = known == before_.end() ? 0 : std::max<std::int64_t>(host.requests - known->second, 0);
  }
  before_ = std::move(totals_now);
  last_ = now;
  samples_.push_back(std::move(sample));
  if (samples_.size() > kSamplesMax) samples_.pop_front();
}

}  // namespace sluice::placer
