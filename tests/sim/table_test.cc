#include "sim/table.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace sluice::sim {
namespace {

TEST(Table, AlignsWordsLeftAndNumbersRight) {
  Table table({"policy", "waiting", "n"});
  table.add({"ps", "7000", "1"});
  table.add({"sita_e", "12.5 +-0.3", "-"});
  EXPECT_EQ(table.text(),
            "policy     waiting  n\n"
            "ps            7000  1\n"
            "sita_e  12.5 +-0.3  -\n");
}

TEST(Table, QuotesCsvOnlyWhereNeeded) {
  Table table({"a", "b"});
  table.add({"1 2", "x,\"y\""});
  EXPECT_EQ(table.csv(), "a,b\n1 2,\"x,\"\"y\"\"\"\n");
}

TEST(Digits, HasSoManySignificantOnes) {
  EXPECT_EQ(digits(0.070468), "0.07047");
  EXPECT_EQ(digits(4166.04), "4166");
  EXPECT_EQ(digits(416612), "416612");
  EXPECT_EQ(digits(2.79259e8), "2.793e+08");
  EXPECT_EQ(digits(0), "0");
  EXPECT_EQ(digits(-1.5), "-1.5");
  EXPECT_EQ(digits(123456789.25, 8), "123456789");
  EXPECT_EQ(digits(std::numeric_limits<double>::infinity()), "inf");
  EXPECT_EQ(digits(std::nan("")), "");
}

TEST(Percent, HasItsSign) {
  EXPECT_EQ(percent(0.0312), "+3.1%");
  EXPECT_EQ(percent(-0.4), "-40.0%");
  EXPECT_EQ(percent(std::nan("")), "");
}

}  // namespace
}  // namespace sluice::sim
