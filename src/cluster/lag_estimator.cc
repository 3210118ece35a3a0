#include "cluster/lag_estimator.h"

#include <algorithm>

namespace sluice::cluster {

void LagEstimator::on_head(std::uint64_t position, TimePoint seen) {
  if (!history_.empty() && position < history_.back().position) history_.clear();
  if (!history_.empty() && position == history_.back().position) return;
  history_.push_back({position, seen});
  if (history_.size() > kHistoryMax) history_.pop_front();
}

std::optional<std::uint64_t> LagEstimator::head() const noexcept {
  if (history_.empty()) return std::nullopt;
  return history_.back().position;
}

std::optional<std::uint64_t> LagEstimator::bytes_behind(std::uint64_t replayed) const noexcept {
  const auto newest = head();
  if (!newest) return std::nullopt;
  return *newest > replayed ? *newest - replayed : 0;
}

std::optional<std::chrono::milliseconds> LagEstimator::time_behind(
    std::uint64_t replayed, TimePoint now, std::optional<std::chrono::milliseconds> by_timestamp) const {
  if (history_.empty()) return std::nullopt;
  const auto first_missing = std::upper_bound(history_.begin(), history_.end(), replayed,
                                              [](std::uint64_t p, const Seen& s) { return p < s.position; });
  if (first_missing == history_.end()) return std::chrono::milliseconds(0);
  const auto seen_ago = std::chrono::duration_cast<std::chrono::milliseconds>(now - first_missing->at);
  const auto at_least = std::max(seen_ago, std::chrono::milliseconds(0));
  const bool behind_all = first_missing == history_.begin();
  return behind_all && by_timestamp ? std::max(at_least, *by_timestamp) : at_least;
}

}  // namespace sluice::cluster
