#include "router/policy_counts.h"

#include <algorithm>
#include <cstdint>

namespace sluice::router {

namespace metric = telemetry::metric;

void count_changes(telemetry::ThreadMetrics& metrics, const std::vector<policy::RoleChange>& changes,
                   policy::ClassId borrower) {
  for (const policy::RoleChange& change : changes) {
    if (change.kind == policy::ChangeKind::Borrow) {
      metrics.count(metric::borrowings_total, borrower, telemetry::PoolLabel(change.from));
    } else if (!change.from.is_mixed()) {
      metrics.count(metric::returns_total, change.from.owner(), telemetry::PoolLabel(change.to));
    }
  }
}

void count_size_use(telemetry::ThreadMetrics& metrics, const config::Options& options,
                    policy::ClassId priority, const Granted& slot) {
  if (!policy::is_by_size(options.order_within_pool)) return;
  metrics.count(metric::size_assignments_total, priority,
                slot.by_size ? telemetry::ChosenBy::Size : telemetry::ChosenBy::Load);
}

// Histograms hold times: a ratio of 1 is their second.
void record_slowdown(telemetry::ThreadMetrics& metrics, policy::ClassId priority,
                     std::chrono::nanoseconds waited, std::chrono::nanoseconds service) {
  constexpr double kRatioMax = 1e6;
  constexpr double kOne = 1e9;
  if (service.count() <= 0) return;
  const double ratio =
      static_cast<double>(std::max<std::int64_t>(0, waited.count())) / static_cast<double>(service.count());
  metrics.record(metric::slowdown_ratio,
                 std::chrono::nanoseconds(static_cast<std::int64_t>(std::min(ratio, kRatioMax) * kOne)),
                 priority);
}

}  // namespace sluice::router
