#include "trace/recent.h"

#include <cmath>

#include <gtest/gtest.h>

namespace sluice::trace {
namespace {

TEST(RecentCounts, KnowsNothingBeforeTheFirst) {
  const RecentCounts counts;
  EXPECT_EQ(counts.count(), 0U);
  EXPECT_EQ(counts.mean(), 0);
  EXPECT_EQ(counts.quantile(0.5), 0);
}

TEST(RecentCounts, GivesMeanMedianAndTail) {
  RecentCounts counts;
  for (int i = 0; i < 10; ++i)
    for (const std::uint32_t value : {3U, 3U, 3U, 3U, 3U, 3U, 3U, 3U, 12U, 12U})
      counts.add(value);
  EXPECT_NEAR(counts.mean(), 4.8, 0.1);
  EXPECT_EQ(counts.quantile(0.5), 3);
  EXPECT_EQ(counts.quantile(0.9), 12);
  EXPECT_EQ(counts.quantile(1), 12);
  EXPECT_EQ(counts.quantile(0), 3);
  EXPECT_EQ(counts.count(), 100U);
}

TEST(RecentCounts, FollowsAChange) {
  RecentCounts counts;
  for (int i = 0; i < 10'000; ++i)
    counts.add(12);
  EXPECT_EQ(counts.quantile(0.5), 12);
  int needed = 0;
  while (counts.quantile(0.5) == 12 && needed < 10'000) {
    counts.add(3);
    ++needed;
  }
  EXPECT_NEAR(needed, RecentCounts::kHalfLife, 2);
}

TEST(RecentCounts, StaysFiniteForEver) {
  RecentCounts counts;
  for (int i = 0; i < 300'000; ++i)
    counts.add(static_cast<std::uint32_t>(i % 2 == 0 ? 2 : 4));
  EXPECT_NEAR(counts.mean(), 3, 0.01);
  EXPECT_EQ(counts.quantile(0.9), 4);
}

TEST(RecentCounts, HasBucketsThatAreExactThenWithinAThirtySecond) {
  std::size_t last = 0;
  for (std::uint32_t value = 0; value <= RecentCounts::kMax; ++value) {
    const std::size_t bucket = RecentCounts::bucket_of(value);
    ASSERT_LE(bucket, last + 1);
    ASSERT_GE(bucket, last);
    const std::uint32_t lowest = RecentCounts::lowest_of(bucket);
    ASSERT_LE(lowest, value);
    ASSERT_LE(value - lowest, value / 32) << value;
    ASSERT_TRUE(value >= RecentCounts::kExact || lowest == value);
    last = bucket;
  }
  EXPECT_EQ(RecentCounts::bucket_of(~0U), last);
}

TEST(RecentShares, FollowsAChange) {
  RecentShares<2> untraced;
  EXPECT_TRUE(untraced.empty());
  EXPECT_EQ(untraced.share(1), 0);
  for (int i = 0; i < 100'000; ++i)
    untraced.add(0);
  EXPECT_EQ(untraced.share(1), 0);
  for (int i = 0; i < static_cast<int>(RecentShares<2>::kHalfLife); ++i)
    untraced.add(1);
  EXPECT_NEAR(untraced.share(1), 0.5, 0.01);
}

TEST(RecentShares, NamesTheMostFrequentKind) {
  RecentShares<4> classes;
  for (int i = 0; i < 100; ++i)
    classes.add(static_cast<std::size_t>(i % 3 == 0 ? 1 : 2));
  EXPECT_EQ(classes.greatest(), 2U);
  classes.add(99);  // a kind that is not told apart
  EXPECT_EQ(classes.greatest(), 2U);
}

}  // namespace
}  // namespace sluice::trace
