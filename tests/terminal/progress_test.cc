#include "terminal/progress.h"

#include <gtest/gtest.h>

namespace sluice::terminal {
namespace {

using std::chrono::seconds;

TEST(ProgressLine, ShowsHowMuchIsDoneAndHowLongItWillTake) {
  EXPECT_EQ(progress_line(0, 10'400, seconds(0)), "[>                             ]   0%  0 of 10,400");
  EXPECT_EQ(progress_line(2'600, 10'400, seconds(40)),
            "[=======>                      ]  25%  2,600 of 10,400, 2:00 left");
  EXPECT_EQ(progress_line(10, 10, seconds(40)), "[==============================] 100%  10 of 10, 0:00 left");
  EXPECT_EQ(progress_line(0, 0, seconds(0)), "[==============================] 100%  0 of 0");
}

}  // namespace
}  // namespace sluice::terminal
