#include "sluice/ratio.h"

#include <gtest/gtest.h>

namespace sluice {
namespace {

TEST(Ratio, FloorsExactlyWhereBinaryFloatingPointDoesNot) {
  EXPECT_EQ(Ratio::parse("0.29")->floor_of(100), 29);
  EXPECT_EQ(Ratio::parse("0.60")->floor_of(10), 6);
  EXPECT_EQ(Ratio::parse("0.999999999")->floor_of(1'000'000'000), 999'999'999);
  EXPECT_EQ(Ratio::parse("1.00")->floor_of(1'000'000'000), 1'000'000'000);
  EXPECT_EQ(Ratio::parse("0.6")->floor_of(1), 0);
}

TEST(Ratio, AgreesWithIntegerArithmeticForEveryPercentage) {
  for (int percent = 0; percent < 100; ++percent) {
    const std::string text = "0." + std::string(percent < 10 ? "0" : "") + std::to_string(percent);
    for (int whole = 0; whole <= 300; ++whole)
      ASSERT_EQ(Ratio::parse(text)->floor_of(whole), percent * whole / 100) << text << " of " << whole;
  }
}

TEST(Ratio, ReadsDecimalsFromZeroToOneOnly) {
  for (const char* good : {"0", "1", "0.5", ".5", "1.000", "00.5", "0.123456789"})
    EXPECT_TRUE(Ratio::parse(good)) << good;
  for (const char* bad : {"", ".", "1.", "-0.5", "+0.5", "0.5 ", "1.01", "2", "1e-1", "0,5", "0x1",
                          "0.1234567890", "nan", "99999999999999999999", "0.-1", "1.0000000001"})
    EXPECT_FALSE(Ratio::parse(bad)) << bad;
}

TEST(Ratio, PrintsWhatItReads) {
  EXPECT_EQ(Ratio::parse(".6")->to_string(), "0.60");
  EXPECT_EQ(Ratio::parse("1")->to_string(), "1.00");
  EXPECT_EQ(Ratio::parse("0.125000")->to_string(), "0.125");
  EXPECT_EQ(Ratio::parse("0.05"), Ratio::parse(Ratio::parse("0.05")->to_string()));
}

}  // namespace
}  // namespace sluice
