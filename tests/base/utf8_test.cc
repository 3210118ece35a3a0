#include "base/utf8.h"

#include <gtest/gtest.h>

namespace sluice {
namespace {

TEST(Utf8, KnowsCharactersOfEveryLength) {
  EXPECT_TRUE(is_utf8("a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"));
  EXPECT_TRUE(is_utf8(""));
  EXPECT_EQ(utf8_length("\xe2\x82\xac!"), 3U);
}

TEST(Utf8, RefusesOverlongSurrogateCutOffAndBeyondTheLast) {
  for (const std::string_view bad :
       {"\x80", "\xc0\x80", "\xc3", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xff"}) {
    EXPECT_FALSE(is_utf8(bad));
    EXPECT_EQ(utf8_length(bad), 0U);
  }
}

}  // namespace
}  // namespace sluice
