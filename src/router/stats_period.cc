#include "router/stats_period.h"

#include <utility>

#include "telemetry/reading.h"

namespace sluice::router {
namespace {

admin::Micros micros(std::chrono::nanoseconds d) {
  return std::chrono::duration_cast<admin::Micros>(d);
}

}  // namespace

std::vector<admin::StatsRow> total_rows(const telemetry::Registry& telemetry) {
  std::vector<admin::StatsRow> rows;
  for (const telemetry::DatabaseStats& stats : telemetry::database_stats(telemetry.read())) {
    admin::StatsRow row;
    row.database = stats.name;
    row.total.server_assignment_count = stats.server_assignments;
    row.total.xact_count = stats.transactions;
    row.total.query_count = stats.queries;
    row.total.bytes_received = stats.bytes_received;
    row.total.bytes_sent = stats.bytes_sent;
    row.total.xact_time_us = micros(stats.transaction_time).count();
    row.total.query_time_us = micros(stats.query_time).count();
    row.total.wait_time_us = micros(stats.wait_time).count();
    row.total.client_login_count = stats.logins;
    rows.push_back(std::move(row));
  }
  return rows;
}

void StatsPeriod::end(const std::vector<admin::StatsRow>& totals, Clock::time_point now) {
  averages_.clear();
  for (const admin::StatsRow& row : totals) {
    const auto before = at_begin_.find(row.database);
    const admin::StatsCounters zero;
    averages_[row.database] = admin::average_between(before == at_begin_.end() ? zero : before->second,
                                                     row.total, micros(now - began_));
  }
  at_begin_.clear();
  for (const admin::StatsRow& row : totals)
    at_begin_[row.database] = row.total;
  began_ = now;
  first_ = false;
}

void StatsPeriod::fill_averages(std::vector<admin::StatsRow>& rows, Clock::time_point now) const {
  for (admin::StatsRow& row : rows) {
    if (first_) {
      row.average = admin::average_between({}, row.total, micros(now - began_));
    } else if (const auto known = averages_.find(row.database); known != averages_.end()) {
      row.average = known->second;
    }
  }
}

}  // namespace sluice::router
