#include "bench/scale.h"

#include <gtest/gtest.h>

namespace sluice::bench {
namespace {

TEST(Scale, TakesDecimalsAndNothingElse) {
  for (const char* text : {"1", "0.001", "10", "100000", "0.000001", "2.5", "007"})
    EXPECT_TRUE(Scale::parse(text)) << text;
  for (const char* text : {"", "0", "0.0", "-1", "1e3", "1.", ".5", "1.2.3", " 1", "1 ", "0.0000001",
                           "100001", "100000.000001", "1;drop", "99999999999999999999", "0x1", "nan"})
    EXPECT_FALSE(Scale::parse(text)) << text;
}

TEST(Scale, MultipliesExactlyAndRoundsDown) {
  EXPECT_EQ(Scale::parse("0.01")->times(150'000), 1500);
  EXPECT_EQ(Scale::parse("0.29")->times(100), 29);  // 28 in binary
  EXPECT_EQ(Scale::parse("0.001")->times(999), 0);
  EXPECT_EQ(Scale::parse("2.5")->times(3), 7);
  EXPECT_EQ(Scale().times(5), 5);
  EXPECT_EQ(Scale::parse("100000")->times(9'000'000'000'000'000), std::nullopt);
}

TEST(Scale, KeepsItsText) {
  EXPECT_EQ(Scale::parse("0.010")->text(), "0.010");
}

}  // namespace
}  // namespace sluice::bench
