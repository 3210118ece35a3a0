#include "demo/response_times.h"

#include <algorithm>
#include <limits>

#include <gtest/gtest.h>

namespace sluice::demo {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(ResponseTimes, ReadsBucketsAndAddsUpThePools) {
  const auto histograms = read_response_histograms(
      "# HELP sluice_response_seconds Time\n# TYPE sluice_response_seconds histogram\n"
      "sluice_response_seconds_bucket{class=\"premium\",pool=\"premium\",le=\"0.001\"} 3\n"
      "sluice_response_seconds_bucket{class=\"premium\",pool=\"premium\",le=\"+Inf\"} 5\n"
      "sluice_response_seconds_bucket{class=\"premium\",pool=\"mixed\",le=\"0.001\"} 2\n"
      "sluice_response_seconds_bucket{class=\"premium\",pool=\"mixed\",le=\"+Inf\"} 2\n"
      "sluice_response_seconds_bucket{class=\"freemium\",pool=\"mixed\",le=\"+Inf\"} 1\n"
      "sluice_response_seconds_sum{class=\"premium\",pool=\"mixed\"} 0.1\n"
      "sluice_sessions{class=\"premium\",replica=\"r1\"} 4\n");
  EXPECT_EQ(histograms.at("premium"), (Histogram{{0.001, 5}, {kInfinity, 7}}));
  EXPECT_EQ(histograms.at("freemium"), (Histogram{{kInfinity, 1}}));
  EXPECT_EQ(histograms.size(), 2U);
}

TEST(ResponseTimes, SkipsRowsThatAreBroken) {
  EXPECT_TRUE(read_response_histograms("").empty());
  EXPECT_TRUE(read_response_histograms("sluice_response_seconds_bucket{").empty());
  EXPECT_TRUE(read_response_histograms("sluice_response_seconds_bucket{class=\"a\",le=\"x\"} 1\n"
                                       "sluice_response_seconds_bucket{class=\"a\",le=\"1\"} y\n"
                                       "sluice_response_seconds_bucket{class=\"a\",le=\"1\"} NaN\n"
                                       "sluice_response_seconds_bucket{class=\"a\",le=\"1\n")
                  .empty());
}

TEST(ResponseTimes, InterpolatesQuantilesBetweenTwoReadings) {
  const Histogram before{{0.001, 10}, {0.002, 10}, {0.004, 10}, {kInfinity, 10}};
  const Histogram now{{0.001, 10}, {0.002, 60}, {0.004, 110}, {kInfinity, 110}};
  EXPECT_EQ(count_between(before, now), 100);
  EXPECT_NEAR(*quantile_between(before, now, 0.5), 0.002, 1e-12);
  EXPECT_NEAR(*quantile_between(before, now, 0.25), 0.0015, 1e-12);
  EXPECT_NEAR(*quantile_between(before, now, 0.75), 0.003, 1e-12);
  EXPECT_NEAR(*quantile_between(before, now, 1.0), 0.004, 1e-12);
}

TEST(ResponseTimes, KnowsNoQuantileWithoutSamples) {
  const Histogram same{{0.001, 10}, {kInfinity, 10}};
  EXPECT_FALSE(quantile_between(same, same, 0.5));
  EXPECT_FALSE(quantile_between({}, {}, 0.5));
}

TEST(ResponseTimes, CountsTheUnboundedBucketAsItsLowerBound) {
  EXPECT_NEAR(*quantile_between({}, {{0.001, 0}, {kInfinity, 10}}, 0.5), 0.001, 1e-12);
}

TEST(ResponseWindow, ForgetsWhatIsOlder) {
  ResponseWindow window(std::chrono::milliseconds(2000));
  // One sample per second at 1 ms, then all at 4 ms.
  for (int second = 0; second <= 10; ++second) {
    const int fast = std::min(second, 5);
    window.add(std::chrono::seconds(second),
               {{"a", {{0.001, fast}, {0.002, fast}, {0.004, second}, {kInfinity, second}}}});
  }
  EXPECT_GT(*window.of("a").median_seconds, 0.002);
  EXPECT_NEAR(window.of("a").queries_per_second, 1, 1e-9);
  EXPECT_LE(*window.since_start("a").median_seconds, 0.002);
  EXPECT_FALSE(window.of("nobody").median_seconds);
  EXPECT_FALSE(ResponseWindow(std::chrono::milliseconds(1)).of("a").median_seconds);
}

}  // namespace
}  // namespace sluice::demo
