#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>

#include "sluice/policy/pool_config.h"

#include "router/router.h"
#include "router/view_rows.h"

namespace sluice::router {
namespace {

admin::Micros micros(double seconds) {
  return admin::Micros(std::llround(std::min(seconds, 1e9) * 1e6));
}

std::string hexadecimal(std::uint64_t value) {
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(value));
  return text.data();
}

}  // namespace

std::vector<admin::SizeRow> size_rows(Router& router) {
  const std::chrono::nanoseconds now = std::chrono::steady_clock::now().time_since_epoch();
  std::vector<admin::SizeRow> rows;
  for (const sizes::SizeRow& known : router.shared().size_book.rows()) {
    admin::SizeRow& row = rows.emplace_back();
    row.user = known.owner.user;
    row.database = known.owner.database;
    (known.owner.kind == sizes::Owner::Kind::Route ? row.route : row.application_name) = known.owner.label;
    if (known.statement != 0) row.fingerprint = hexadecimal(known.statement);
    row.statement = known.outline;
    row.count = static_cast<std::int64_t>(known.size.count());
    if (row.count == 0) continue;  // seen, and not ended yet
    row.mean = micros(known.size.mean());
    row.median = micros(known.size.quantile(0.5));
    row.p95 = micros(known.size.quantile(0.95));
    row.p99 = micros(known.size.quantile(0.99));
    row.age = std::chrono::duration_cast<std::chrono::milliseconds>(now - known.last_seen);
  }
  return rows;
}

std::vector<admin::CutoffRow> cutoff_rows(Router& router) {
  const SnapshotPtr snapshot = router.snapshot();
  std::vector<admin::CutoffRow> rows;
  for (const policy::SizePoolSnapshot& pool : router.shared().admission.size_pools()) {
    admin::CutoffRow row;
    row.pool = pool.pool ? snapshot->class_name(*pool.pool) : "all";
    row.order = policy::order_name(snapshot->options().order_within_pool);
    row.state = pool.known ? "by size" : "by load";
    row.sizes = static_cast<std::int64_t>(pool.sizes);
    row.utilization = pool.utilization;
    if (pool.intervals.empty()) rows.push_back(row);
    for (const policy::SizeIntervalSnapshot& one : pool.intervals) {
      row.replica = snapshot->server_name(ServerId(one.replica.value()));
      row.from = one.interval.from;
      row.to = std::isinf(one.interval.to) ? std::nullopt : std::optional(one.interval.to);
      row.job_share = one.interval.job_share;
      row.load_share = one.interval.work_share;
      rows.push_back(row);
    }
  }
  return rows;
}

}  // namespace sluice::router
