#include "base/text.h"

#include <cstdint>
#include <optional>

#include <gtest/gtest.h>

namespace sluice {
namespace {

TEST(Text, LowerChangesAsciiLettersAlone) {
  EXPECT_EQ(ascii_lower("TimeZone_09 [@`{"), "timezone_09 [@`{");
  EXPECT_EQ(ascii_lower("\xC3\x84Z"), "\xC3\x84z");  // a letter beyond ASCII, in UTF-8
  EXPECT_EQ(ascii_lower(""), "");
}

TEST(Text, WithoutControlsKeepsLengthAndAllElse) {
  EXPECT_EQ(without_controls(std::string_view("a\0b\n\x1B[1m\x7F\xC3\x84 ~", 13)), "a?b??[1m?\xC3\x84 ~");
  EXPECT_EQ(without_controls(""), "");
}

TEST(Text, ToNumberTakesAllOfTheTextOrNothing) {
  EXPECT_EQ(to_number<int>("-12"), -12);
  EXPECT_EQ(to_number<std::uint16_t>("65535"), 65535);
  EXPECT_EQ(to_number<double>("2.5e3"), 2500);
  for (const char* text : {"", "65536", "-1", "+1", " 1", "1 ", "1.0", "0x1", "one"})
    EXPECT_EQ(to_number<std::uint16_t>(text), std::nullopt) << text;
}

}  // namespace
}  // namespace sluice
