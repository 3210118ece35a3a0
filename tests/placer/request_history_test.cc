#include "placer/request_history.h"

#include <gtest/gtest.h>

namespace sluice::placer {
namespace {

using namespace std::chrono_literals;
using TimePoint = RequestHistory::TimePoint;
using WallTime = RequestHistory::WallTime;

TEST(RequestHistory, CountsFromSampleToSample) {
  RequestHistory history;
  history.add(TimePoint(0s), WallTime(0s), {{"a", 100}}, false);
  history.add(TimePoint(10s), WallTime(10s), {{"a", 130}, {"b", 5}}, true);
  history.add(TimePoint(20s), WallTime(20s), {{"a", 130}, {"b", 9}}, false);
  ASSERT_EQ(history.samples().size(), 3U);
  EXPECT_EQ(history.samples()[0].hosts[0].requests, 0);
  EXPECT_EQ(history.samples()[1].hosts[0].requests, 30);
  EXPECT_EQ(history.samples()[1].hosts[1].requests, 0);
  EXPECT_EQ(history.samples()[2].hosts[1].requests, 4);
  EXPECT_TRUE(history.samples()[1].degraded);
}

TEST(RequestHistory, IsDueEveryTenSeconds) {
  RequestHistory history;
  EXPECT_TRUE(history.due(TimePoint(0s)));
  history.add(TimePoint(0s), WallTime(0s), {}, false);
  EXPECT_FALSE(history.due(TimePoint(9s)));
  EXPECT_TRUE(history.due(TimePoint(10s)));
}

TEST(RequestHistory, KeepsAnHour) {
  RequestHistory history;
  for (int i = 0; i < 500; ++i)
    history.add(TimePoint(i * 10s), WallTime(i * 10s), {{"a", i}}, false);
  EXPECT_EQ(history.samples().size(), RequestHistory::kSamplesMax);
  EXPECT_EQ(history.samples().back().time, WallTime(4990s));
}

}  // namespace
}  // namespace sluice::placer
