#include "calibration/wall_time.h"

#include <gtest/gtest.h>

namespace sluice::calibration {
namespace {

TEST(WallTime, ReadsWhatItWrites) {
  for (const std::int64_t count : {0L, 951'782'400L, 1'801'396'799L, 253'402'300'799L}) {
    const WallTime time{std::chrono::seconds(count)};
    EXPECT_EQ(parse_wall_time(wall_time_text(time)), time);
  }
  EXPECT_EQ(wall_time_text(WallTime{std::chrono::seconds(951'782'400)}), "2000-02-29T00:00:00Z");
}

TEST(WallTime, RefusesWhatIsNoTime) {
  for (const char* text : {"", "2026-01-31", "2026-01-31T12:00:00", "2026-01-31T12:00:00+",
                           "2026-02-30T12:00:00Z", "2026-01-31T24:00:00Z", "2026-01-31T12:60:00Z",
                           "1969-12-31T23:59:59Z", "2026-1 -31T12:00:00Z", "2026-01-31 12:00:00Z"})
    EXPECT_EQ(parse_wall_time(text), std::nullopt) << text;
}

}  // namespace
}  // namespace sluice::calibration
