// Part::Overview: what changes from second to second, and the parts of it that are asked for alone too.

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "config/match.h"
#include "router/past_minute.h"
#include "router/router.h"
#include "router/view_rows.h"

namespace sluice::router {
namespace {

admin::RecentTimes recent_times(const telemetry::HistogramReading& histogram) {
  return {static_cast<std::int64_t>(histogram.count()), quantiles_of(histogram)};
}

std::int64_t opened_of(const telemetry::Reading& reading, policy::ClassId id) {
  std::int64_t opened =
      reading.value(telemetry::metric::sessions_opened_total, id, telemetry::ServerLabel::primary());
  for (std::uint32_t r = 0; r < reading.names().replicas.size(); ++r)
    opened += reading.value(telemetry::metric::sessions_opened_total, id,
                            telemetry::ServerLabel(policy::ReplicaId(r)));
  return opened;
}

// "..., pool of 3 of which 1 had room".
std::string reason_of(const DecisionRecord& decision) {
  std::string reason(policy::outcome_reason(decision.outcome));
  return reason + " (live replicas in its pool: " + std::to_string(decision.evidence.pool_size) +
         ", with room: " + std::to_string(decision.evidence.with_headroom) + ")";
}

std::string pool_name(const SnapshotPtr& snapshot, policy::PoolId pool) {
  return pool.is_mixed() ? "mixed" : snapshot->class_name(pool.owner());
}

admin::RoleChangeRow role_change_row(const SnapshotPtr& snapshot, const policy::RoleChange& change) {
  return {snapshot->server_name(ServerId(change.replica.value())), pool_name(snapshot, change.from),
          pool_name(snapshot, change.to), std::string(policy::change_kind_name(change.kind))};
}

std::vector<admin::RejectionRow> rejection_rows(const telemetry::Reading& reading) {
  using telemetry::RejectReason;
  std::vector<admin::RejectionRow> rows;
  for (std::size_t i = 0; i < telemetry::LabelTraits<RejectReason>::kCount; ++i) {
    const auto reason = static_cast<RejectReason>(i);
    rows.push_back({std::string(telemetry::label_value(reason)),
                    reading.value(telemetry::metric::sessions_rejected_total, reason)});
  }
  return rows;
}

std::vector<admin::WarningRow> warning_rows(Router& router) {
  std::vector<admin::WarningRow> rows;
  for (const config::Problem& problem : router.snapshot()->config->warnings)
    rows.push_back({problem.file, problem.line, problem.key, problem.message, problem.hint});
  return rows;
}

}  // namespace

admin::Micros to_micros(std::chrono::nanoseconds d) {
  return std::chrono::duration_cast<admin::Micros>(d);
}

admin::Quantiles quantiles_of(const telemetry::HistogramReading& histogram) {
  const auto at = [&](double q) -> std::optional<admin::Micros> {
    const auto value = histogram.quantile(q);
    return value ? std::optional(to_micros(*value)) : std::nullopt;
  };
  return {at(0.5), at(0.95), at(0.99)};
}

std::vector<admin::ClassRow> class_rows(Router& router, const telemetry::Reading& reading, PastMinute* past) {
  const SnapshotPtr snapshot = router.snapshot();
  const policy::Snapshot pools = router.shared().admission.snapshot();
  const auto waiting = router.shared().admission.waiting();
  if (past != nullptr) past->add(std::chrono::steady_clock::now(), reading);
  std::vector<admin::ClassRow> rows;
  std::int64_t priority = 0;
  for (const policy::ClassSnapshot& c : pools.classes) {
    admin::ClassRow row;
    row.name = c.params.name;
    row.priority = priority++;
    row.saturation = c.params.saturation;
    row.return_ratio = c.params.return_ratio.to_string();
    row.floor = c.params.floor;
    row.target = c.params.target;
    row.weight = c.params.weight.to_string();
    row.replicas = c.live_replicas;
    row.borrowed = std::count_if(pools.replicas.begin(), pools.replicas.end(), [&](const auto& r) {
      return r.borrowed && !r.pool.is_mixed() && r.pool.owner() == c.id;
    });
    row.sessions = c.sessions;
    for (const policy::Outcome outcome : policy::kOutcomes)
      row.outcomes.emplace_back(std::string(policy::outcome_name(outcome)),
                                static_cast<std::int64_t>(c.decisions[static_cast<std::size_t>(outcome)]));
    if (const auto index = config::class_index(*snapshot->config, c.params.name))
      row.max_sessions = snapshot->config->classes[*index].max_sessions;
    row.response = quantiles_of(reading.response_of(c.id));
    for (const Admission::ClassWaiting& line : waiting) {
      if (line.id != c.id) continue;
      row.waiting = static_cast<std::int64_t>(line.waiting);
      if (line.waiting > 0) row.longest_wait = to_micros(line.longest);
    }
    if (past != nullptr) {
      const PastMinute::OfClass recent = past->of(c.id);
      row.recent_response = recent_times(recent.response);
      row.recent_wait = recent_times(recent.wait);
      row.opened = opened_of(reading, c.id);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<admin::DecisionRow> decision_rows(Router& router, std::size_t most) {
  const SnapshotPtr snapshot = router.snapshot();
  std::vector<admin::DecisionRow> rows;
  for (const DecisionRecord& decision : router.shared().admission.decisions(most)) {
    admin::DecisionRow row;
    row.number = decision.number;
    row.time = decision.time;
    row.client = decision.tag.id.value();
    row.user = decision.tag.user;
    row.database = decision.tag.database;
    row.priority_class = snapshot->class_name(decision.tag.priority);
    row.host = decision.tag.host;
    if (decision.replica) row.replica = snapshot->server_name(ServerId(decision.replica->value()));
    row.outcome = policy::outcome_name(decision.outcome);
    row.reason = reason_of(decision);
    for (const policy::RoleChange& change : decision.changes)
      row.changes.push_back(role_change_row(snapshot, change));
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<admin::RoleChangeEvent> role_change_events(Router& router, std::size_t most) {
  const SnapshotPtr snapshot = router.snapshot();
  std::vector<admin::RoleChangeEvent> events;
  for (const RoleChangeRecord& record : router.shared().admission.role_changes(most))
    events.push_back({record.number, record.time, snapshot->class_name(record.priority),
                      role_change_row(snapshot, record.change)});
  return events;
}

admin::Snapshot make_overview(Router& router, PastMinute& past) {
  const telemetry::Reading reading = router.telemetry().read();  // adds up every cell of every thread: once
  admin::Snapshot rows;
  rows.replicas = replica_rows(router, {}, {}, reading);
  rows.classes = class_rows(router, reading, &past);
  rows.decisions = decision_rows(router, admin::kOverviewRows);
  rows.role_changes = role_change_events(router, admin::kOverviewRows);
  rows.rejections = rejection_rows(reading);
  rows.warnings = warning_rows(router);
  rows.state = router.state();
  return rows;
}

}  // namespace sluice::router
