#include "sluice/placement/cost.h"

namespace sluice::placement {

std::optional<Millis> share_weighted(std::span<const std::optional<Millis>> rtt,
                                     std::span<const double> shares) noexcept {
  double all_shares = 0;
  for (const double share : shares)
    all_shares += share > 0 ? share : 0;
  double weights = 0;
  Millis sum{};
  for (std::size_t r = 0; r < rtt.size() && r < shares.size(); ++r) {
    if (!rtt[r]) continue;
    const double weight = all_shares > 0 ? (shares[r] > 0 ? shares[r] : 0) : 1;
    weights += weight;
    sum += weight * *rtt[r];
  }
  if (!(weights > 0)) return std::nullopt;
  return sum / weights;
}

}  // namespace sluice::placement
