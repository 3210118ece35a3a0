#include "pgclient/ttl_cache.h"

#include <gtest/gtest.h>

#include "pgclient/one_line.h"

namespace sluice::pgclient {
namespace {

using namespace std::chrono_literals;
using Cache = TtlCache<int>;
constexpr Cache::TimePoint kStart = Cache::TimePoint(1000s);

TEST(TtlCache, ForgetsAfterTheTimeToLive) {
  Cache cache(10);
  cache.put("a", 1, kStart, 5s);
  ASSERT_NE(cache.find("a", kStart + 4999ms), nullptr);
  EXPECT_EQ(cache.find("a", kStart + 5s), nullptr);
  EXPECT_EQ(cache.size(), 0U);
}

TEST(TtlCache, DropsTheLeastRecentlyUsedWhenFull) {
  Cache cache(2);
  cache.put("a", 1, kStart, 5s);
  cache.put("b", 2, kStart, 5s);
  EXPECT_NE(cache.find("a", kStart), nullptr);
  cache.put("c", 3, kStart, 5s);
  EXPECT_EQ(cache.find("b", kStart), nullptr);
  EXPECT_EQ(cache.find("a", kStart)->value, 1);
  EXPECT_EQ(cache.size(), 2U);
}

TEST(TtlCache, ReplacesAValueInPlace) {
  Cache cache(2);
  cache.put("a", 1, kStart, 5s);
  cache.put("a", 2, kStart + 4s, 5s);
  EXPECT_EQ(cache.find("a", kStart + 8s)->value, 2);
  EXPECT_EQ(cache.size(), 1U);
}

TEST(OneLine, JoinsLinesHidesControlsAndCuts) {
  EXPECT_EQ(one_line("connection to server failed:\n\tIs it running?\n"),
            "connection to server failed: Is it running?");
  EXPECT_EQ(one_line("a\x1b[2J"), "a?[2J");
  EXPECT_EQ(one_line(std::string(1000, 'x')).size(), kMessageBytesMax + 3);
}

}  // namespace
}  // namespace sluice::pgclient
