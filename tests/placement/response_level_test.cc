#include "sluice/placement/response_level.h"

#include <gtest/gtest.h>

#include "sluice/rng.h"

namespace sluice::placement {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

constexpr Millis kForget{5000.0};

class ResponseLevelTest : public testing::Test {
 protected:
  // Uniform within 20% around the centre.
  void feed(double centre, int samples, nanoseconds apart = milliseconds(10)) {
    for (int i = 0; i < samples; ++i)
      level_.add(Millis(centre * (0.8 + 0.4 * rng_.unit())), now_ += apart, kForget);
  }
  ResponseLevel level_;
  nanoseconds now_{seconds(1)};
  Rng rng_{1};
};

TEST_F(ResponseLevelTest, IsEmptyAtFirst) {
  EXPECT_TRUE(level_.empty());
  EXPECT_EQ(level_.weight(now_, kForget), 0);
}

TEST_F(ResponseLevelTest, FindsTheCentre) {
  feed(4, 300);
  EXPECT_NEAR(level_.level().count(), 4, 0.15);
  EXPECT_NEAR(level_.scatter().count(), 4 * 0.4 / 3.46, 0.15);
  EXPECT_GT(level_.weight(now_, kForget), 50);
}

TEST_F(ResponseLevelTest, OneWildSampleMovesItByLessThanItsScatter) {
  feed(4, 100);
  const double before = level_.level().count();
  EXPECT_EQ(level_.add(Millis(30000.0), now_, kForget), ResponseLevel::Change::None);
  EXPECT_NEAR(level_.level().count(), before, 0.05);
}

TEST_F(ResponseLevelTest, AWildSampleAmongTheFirstThreeIsOutvoted) {
  for (int wild = 0; wild < 3; ++wild) {
    ResponseLevel level;
    for (int i = 0; i < 3; ++i)
      level.add(Millis(i == wild ? 30000.0 : 4.0), now_, kForget);
    EXPECT_EQ(level.level(), Millis(4));
  }
}

TEST_F(ResponseLevelTest, CountsOnlyFromTheThirdSampleOn) {
  feed(4, 2, nanoseconds(0));
  EXPECT_EQ(level_.weight(now_, kForget), 0);
  feed(4, 1, nanoseconds(0));
  EXPECT_EQ(level_.weight(now_, kForget), 3);
}

TEST_F(ResponseLevelTest, BelievesALastingChangeAfterThreeSamples) {
  for (const double changed : {40.0, 0.4}) {
    level_ = {};
    feed(4, 100);
    feed(changed, 2);
    EXPECT_NEAR(level_.level().count(), 4, 0.6);
    feed(changed, 1);
    EXPECT_NEAR(level_.level().count(), changed, 0.25 * changed);
  }
}

// Three slow ones of five by chance: until more have come, the new level is less certain than the old one
// was.
TEST_F(ResponseLevelTest, IsNotCertainOfWhatThreeSamplesSay) {
  feed(4, 100);
  const Millis before = level_.scatter();
  feed(8, 3);
  EXPECT_NEAR(level_.level().count(), 8, 1.6);
  EXPECT_GT(level_.scatter(), 2 * before);
  feed(8, 100);
  EXPECT_LT(level_.scatter(), 2 * before + before / 2);
}

// By 1% each ten samples: it lags by what its memory of 64 samples makes it, not more.
TEST_F(ResponseLevelTest, FollowsASlowDrift) {
  for (double centre = 4; centre < 8; centre *= 1.01)
    feed(centre, 10);
  EXPECT_NEAR(level_.level().count(), 8, 0.6);
}

TEST_F(ResponseLevelTest, ForgetsWithTime) {
  feed(4, 100);
  const double weight = level_.weight(now_, kForget);
  EXPECT_NEAR(level_.weight(now_ + seconds(5), kForget), weight / 2.71828, 0.01 * weight);
  EXPECT_LT(level_.weight(now_ + seconds(60), kForget), 0.001);
}

TEST_F(ResponseLevelTest, BearsTimesThatRunBackwards) {
  feed(4, 10);
  level_.add(Millis(4), nanoseconds(0), kForget);
  EXPECT_EQ(level_.last_at(), now_);
}

TEST_F(ResponseLevelTest, BearsNonsense) {
  feed(4, 10);
  level_.add(Millis(-1), now_, kForget);
  level_.add(Millis(std::numeric_limits<double>::quiet_NaN()), now_, kForget);
  level_.add(Millis(std::numeric_limits<double>::infinity()), now_, kForget);
  EXPECT_GT(level_.level().count(), 1);
  EXPECT_LT(level_.level().count(), 10);
}

}  // namespace
}  // namespace sluice::placement
