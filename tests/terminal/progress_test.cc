#include "terminal/progress.h"

#include <gtest/gtest.h>

namespace sluice::terminal {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(ProgressLine, ShowsHowMuchIsDoneAndHowLongItWillTake) {
  EXPECT_EQ(progress_line(0, 10'400, seconds(0)), "[>                             ]   0%  0 of 10,400");
  EXPECT_EQ(progress_line(2'600, 10'400, seconds(40)),
            "[=======>                      ]  25%  2,600 of 10,400, 2:00 left");
  EXPECT_EQ(progress_line(10, 10, seconds(40)), "[==============================] 100%  10 of 10, 0:00 left");
  EXPECT_EQ(progress_line(0, 0, seconds(0)), "[==============================] 100%  0 of 0");
}

TEST(ProgressLine, CountsPartsButShowsWholeNumbers) {
  EXPECT_EQ(progress_line(1.5, 6.5, milliseconds(1600)),
            "[======>                       ]  23%  1 of 6, 0:05 left");
  EXPECT_EQ(progress_line(0.9, 6.5, milliseconds(900)), "[====>                         ]  14%  0 of 6");
}

TEST(WaitingLine, ShowsHowManyAreWaitedForAndHowLongAtMost) {
  EXPECT_EQ(waiting_line(60, 120, {"answers", 2'500, milliseconds(59'900)}),
            "[===============>              ]  50%  waiting for answers: 2,500, 0:59 at most");
  EXPECT_EQ(waiting_line(60, 60, {"cancels", 1, seconds(75)}),
            "[==============================] 100%  waiting for cancels: 1, 1:15 at most");
}

TEST(WaitingLine, FitsATerminalOf80Columns) {
  EXPECT_LT(waiting_line(60, 120, {"answers", 2'500, seconds(60)}).size(), 80U);
}

}  // namespace
}  // namespace sluice::terminal
