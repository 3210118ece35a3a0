// What is known of sizes: in the log and in the metrics.

#include <string>

#include "router/router.h"
#include "telemetry/log.h"

namespace sluice::router {

namespace metric = telemetry::metric;

// Told once for each time that it changes.
void Router::look_at_sizes() {
  const SnapshotPtr current = snapshot();
  for (const policy::SizePoolSnapshot& pool : admission_->size_pools()) {
    const auto before = sizes_known_.find(pool.pool);
    if (before != sizes_known_.end() && before->second == pool.known) continue;
    sizes_known_[pool.pool] = pool.known;
    const std::string name = pool.pool ? current->class_name(*pool.pool) : "all";
    if (pool.known)
      log::info("replicas take intervals of sizes",
                {{"pool", name}, {"sizes", pool.sizes}, {"replicas", pool.intervals.size()}});
    else
      log::info("too little is known of sizes: the least loaded replica is taken",
                {{"pool", name}, {"sizes", pool.sizes}, {"needed", policy::SizeIntervals::kKnownFrom}});
  }
}

void Router::sample_sizes(telemetry::Samples& samples) const {
  samples.set(metric::size_entries, static_cast<double>(shared_->size_book.entries()));
  for (const policy::SizePoolSnapshot& pool : admission_->size_pools()) {
    for (const policy::ClassSnapshot& each : admission_->snapshot().classes) {
      if (pool.pool && *pool.pool != each.id) continue;
      samples.set(metric::sizes_known, pool.known ? 1 : 0, each.id);
      samples.set(metric::size_utilization, pool.utilization, each.id);
    }
    for (const policy::SizeIntervalSnapshot& one : pool.intervals) {
      samples.set(metric::size_cutoff_seconds, one.interval.to, one.replica);
      samples.set(metric::size_load_share, one.interval.work_share, one.replica);
      samples.set(metric::size_job_share, one.interval.job_share, one.replica);
    }
  }
}

}  // namespace sluice::router
