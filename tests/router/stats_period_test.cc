#include "router/stats_period.h"

#include <gtest/gtest.h>

namespace sluice::router {
namespace {

using namespace std::chrono_literals;
using Clock = StatsPeriod::Clock;

std::vector<admin::StatsRow> totals(std::int64_t queries, std::int64_t query_time_us) {
  admin::StatsRow row;
  row.database = "shop";
  row.total.query_count = queries;
  row.total.query_time_us = query_time_us;
  return {row};
}

TEST(StatsPeriod, AveragesOverTheFirstPeriodSoFar) {
  const StatsPeriod period{Clock::time_point(1h)};
  auto rows = totals(100, 5000);
  period.fill_averages(rows, Clock::time_point(1h) + 10s);
  EXPECT_EQ(rows[0].average.query_count, 10);
  EXPECT_EQ(rows[0].average.query_time_us, 50);
}

TEST(StatsPeriod, AveragesOverTheLastWholePeriod) {
  const Clock::time_point start(1h);
  StatsPeriod period(start);
  EXPECT_FALSE(period.due(start + 59s, 60s));
  ASSERT_TRUE(period.due(start + 60s, 60s));
  period.end(totals(600, 600), start + 60s);
  period.end(totals(600 + 120, 600 + 1200), start + 120s);
  auto rows = totals(10'000, 10'000);
  rows.push_back({"new", {}, {}});
  period.fill_averages(rows, start + 130s);
  EXPECT_EQ(rows[0].average.query_count, 2);
  EXPECT_EQ(rows[0].average.query_time_us, 10);
  EXPECT_EQ(rows[1].average.query_count, 0);
}

}  // namespace
}  // namespace sluice::router
