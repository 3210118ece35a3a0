#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "admin/router_view.h"
#include "telemetry/registry.h"

namespace sluice::router {

// The totals of each database as of now, with no averages.
std::vector<admin::StatsRow> total_rows(const telemetry::Registry& telemetry);

// Averages as PgBouncer has them: over the last whole period; in the first period, over what there is of it.
// Times are the caller's.
class StatsPeriod {
 public:
  using Clock = std::chrono::steady_clock;

  explicit StatsPeriod(Clock::time_point started) : began_(started) {}
  // Whether a period of that length has passed since end().
  bool due(Clock::time_point now, std::chrono::seconds period) const { return now - began_ >= period; }
  // Ends the period, with the totals as they are now, and begins the next.
  void end(const std::vector<admin::StatsRow>& totals, Clock::time_point now);
  void fill_averages(std::vector<admin::StatsRow>& rows, Clock::time_point now) const;

 private:
  Clock::time_point began_;
  bool first_ = true;
  std::map<std::string, admin::StatsCounters> at_begin_;  // totals when the period began
  std::map<std::string, admin::StatsCounters> averages_;  // of the one before
};

}  // namespace sluice::router
