#include "router/policy_counts.h"

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

}  // namespace sluice::router
