#include "trace/comment.h"

#include <string>

#include <gtest/gtest.h>

namespace sluice::trace {
namespace {

constexpr std::string_view kParent = "traceparent='00-5bd66ef5095369c7b0d1f8f4bd33716a-c532cb4098ac3dd2-01'";
constexpr TraceId kId{0x5bd66ef5095369c7, 0xb0d1f8f4bd33716a};

Tags read(std::string_view sql) {
  const Tags tags = read_comments(sql, sql);
  // The check that comes first never hides a comment.
  EXPECT_TRUE(tags.empty() || begins_with_comment(sql) || ends_with_comment(sql)) << sql;
  return tags;
}
std::string route_of(std::string_view sql) {
  return read(sql).route;
}
std::string with_value(std::string_view value) {
  return route_of("SELECT 1 /*route='" + std::string(value) + "'*/");
}

TEST(Comment, IsReadBehindTheStatement) {
  const Tags tags = read("SELECT * FROM t /*route='%2Ffeed'," + std::string(kParent) + "*/");
  EXPECT_EQ(tags.route, "/feed");
  EXPECT_EQ(tags.trace, kId);
}

TEST(Comment, IsReadInFrontOfTheStatement) {
  const Tags tags = read("/*" + std::string(kParent) + ",route='/feed'*/ SELECT 1");
  EXPECT_EQ(tags.route, "/feed");
  EXPECT_EQ(tags.trace, kId);
}

TEST(Comment, MayStandBeforeAFinalSemicolonAndWhiteSpace) {
  EXPECT_EQ(route_of("SELECT 1 /*route='a'*/;"), "a");
  EXPECT_EQ(route_of("SELECT 1 /*route='a'*/ ; \n"), "a");
  EXPECT_EQ(route_of("SELECT 1; /*route='a'*/\n"), "a");
  EXPECT_EQ(route_of("\n\t /*route='a'*/SELECT 1"), "a");
  EXPECT_EQ(route_of("/*route='a'*/"), "a");
}

TEST(Comment, BehindCountsBeforeTheOneInFront) {
  EXPECT_EQ(route_of("/*route='front'*/ SELECT 1 /*route='behind'*/"), "behind");
  const Tags both = read("/*route='front'*/ SELECT 1 /*" + std::string(kParent) + "*/");
  EXPECT_EQ(both.route, "front");
  EXPECT_EQ(both.trace, kId);
}

TEST(Comment, MakesARouteOfControllerAndAction) {
  EXPECT_EQ(route_of("SELECT 1 /*action='show',controller='articles'*/"), "articles#show");
  EXPECT_EQ(route_of("SELECT 1 /*controller='articles'*/"), "articles");
  EXPECT_EQ(route_of("SELECT 1 /*action='show'*/"), "");
  EXPECT_EQ(route_of("SELECT 1 /*action='show',controller='articles',route='/a'*/"), "/a");
}

TEST(Comment, IgnoresOtherKeysAndWhiteSpaceBetweenPairs) {
  EXPECT_EQ(route_of("SELECT 1 /* db_driver='x', framework='y' , route = '/feed' */"), "/feed");
}

TEST(Comment, DecodesPercentCodesThenUnescapes) {
  EXPECT_EQ(with_value("%2Fa%20b%2fc"), "/a b/c");
  EXPECT_EQ(with_value("it\\'s"), "it's");
  EXPECT_EQ(with_value("it%5C%27s"), "it's");
  EXPECT_EQ(with_value("it%27s"), "it's");
  EXPECT_EQ(with_value("a%5Cb"), "a\\b");
  EXPECT_EQ(with_value("%C3%A9"), "\xc3\xa9");
}

TEST(Comment, DropsValuesThatAreNotWhatTheyShouldBe) {
  for (const std::string_view bad : {"%", "%2", "%2G", "%zz", "a%00b", "a%0Ab", "%7F", "%FF", "%C3", "\n"})
    EXPECT_EQ(with_value(bad), "") << bad;
  EXPECT_EQ(with_value(std::string(kRouteBytesMax, 'x')).size(), kRouteBytesMax);
  EXPECT_EQ(with_value(std::string(kRouteBytesMax + 1, 'x')), "");
  EXPECT_EQ(route_of("SELECT 1 /*route='%zz',controller='c'*/"), "c");
}

TEST(Comment, CountsOnlyAtTheVeryFrontOrTheVeryEnd) {
  for (const std::string_view sql : {
           "SELECT 1 /*route='a'*/ FROM t",
           "SELECT '/*route=''a''*/'",
           "SELECT E'/*route=\\'a\\'*/'",
           "SELECT $$/*route='a'*/$$",
           "SELECT \"/*route='a'*/\"",
           "SELECT '/*route=''a''*/' /* plain */",
           "SELECT 'x' /* plain */ || '*/'",
           "SELECT '/*' || route='a' || '*/'",
           "SELECT 1 -- */",
           "SELECT 1 /*route='a'",
           "/*route='a' SELECT 1",
           "/*route='a*/ SELECT 1",
           "/*route='a'*",
           "*/",
           "/*/",
           "/**/",
           "/* */",
           "",
           ";;;",
           "   ",
       })
    EXPECT_TRUE(read(sql).empty()) << sql;
}

TEST(Comment, IsTheLastOneInTheTextAndNotTextInALiteralBefore) {
  EXPECT_EQ(route_of("SELECT '/*route=''wrong''*/' /*route='right'*/"), "right");
  EXPECT_EQ(route_of("SELECT '/*' /*route='right'*/"), "right");
  EXPECT_EQ(route_of("SELECT '--' /*route='right'*/"), "right");
}

TEST(Comment, HoldsNothingButPairs) {
  for (const std::string_view inside :
       {"route", "route=", "route='", "route=a", "route=\"a\"", "='a'", "route='a' x='b'", "route='a';x='b'",
        "route='a'b", "hint, route='a'", "route='a',=", "/*route='a'*/", "route='a' /* nested */ ",
        "route='\\'"})
    EXPECT_EQ(route_of("SELECT 1 /*" + std::string(inside) + "*/"), "") << inside;
  EXPECT_EQ(route_of("/*+ SeqScan(t) */ SELECT 1"), "");
  EXPECT_EQ(route_of("SELECT 1 /*route='a',*/"), "a");
}

TEST(Comment, IsBoundedInLengthAndKeys) {
  const auto padded = [](std::size_t bytes) {
    return "SELECT 1 /*route='a',x='" + std::string(bytes, 'x') + "'*/";
  };
  EXPECT_EQ(route_of(padded(1000)), "a");
  EXPECT_EQ(route_of(padded(kCommentBytesMax)), "");
  std::string many = "SELECT 1 /*route='a'";
  for (std::size_t i = 1; i < kCommentKeysMax; ++i)
    many += ",k='v'";
  EXPECT_EQ(route_of(many + "*/"), "a");
  EXPECT_EQ(route_of(many + ",k='v'*/"), "");
  EXPECT_EQ(route_of("SELECT 1 /*route='a'*/" + std::string(100, ' ')), "");
}

TEST(Comment, NeedsOnlyBothEndsOfALongStatement) {
  const std::string sql = "SELECT '" + std::string(100'000, 'x') + "' /*route='a'*/;";
  const std::string_view all(sql);
  EXPECT_EQ(read_comments(all.substr(0, 100), all.substr(all.size() - 100)).route, "a");
  EXPECT_EQ(read_comments(all.substr(0, 100), all.substr(all.size() - 5)).route, "");
}

TEST(Traceparent, IsReadAsW3CSays) {
  const auto id = parse_traceparent("00-5bd66ef5095369c7b0d1f8f4bd33716a-c532cb4098ac3dd2-01");
  ASSERT_TRUE(id);
  EXPECT_EQ(*id, kId);
  EXPECT_TRUE(parse_traceparent("01-5bd66ef5095369c7b0d1f8f4bd33716a-c532cb4098ac3dd2-01-later"));
}

TEST(Traceparent, TakesLowerCaseDigitsAtEachPlaceAndNothingElse) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  const std::string good = "00-5bd66ef5095369c7b0d1f8f4bd33716a-c532cb4098ac3dd2-01";
  for (std::size_t place = 0; place < good.size(); ++place) {
    for (int c = 0; c < 256; ++c) {
      std::string text = good;
      text[place] = static_cast<char>(c);
      const bool digit = kDigits.find(text[place]) != kDigits.npos;
      const auto id = parse_traceparent(text);
      ASSERT_EQ(id.has_value(), good[place] == '-' ? c == '-' : digit) << text;
      if (place < 3 || place >= 35 || !digit) continue;
      const std::size_t nibble = 31 - (place - 3);
      const std::uint64_t half = nibble < 16 ? id->low : id->high;
      ASSERT_EQ(half >> (nibble % 16 * 4) & 15, kDigits.find(text[place])) << text;
    }
  }
}

TEST(Traceparent, IsIgnoredWhenInvalid) {
  for (const std::string_view bad : {
           "",
           "00",
           "00-00000000000000000000000000000000-c532cb4098ac3dd2-01",
           "00-5bd66ef5095369c7b0d1f8f4bd33716a-0000000000000000-01",
           "ff-5bd66ef5095369c7b0d1f8f4bd33716a-c532cb4098ac3dd2-01",
           "00-5BD66EF5095369C7B0D1F8F4BD33716A-c532cb4098ac3dd2-01",
           "00-5bd66ef5095369c7b0d1f8f4bd33716a-c532cb4098ac3dd2-01-more",
           "01-5bd66ef5095369c7b0d1f8f4bd33716a-c532cb4098ac3dd2-01more",
           "00-5bd66ef5095369c7b0d1f8f4bd33716-c532cb4098ac3dd2-01x",
           "00_5bd66ef5095369c7b0d1f8f4bd33716a-c532cb4098ac3dd2-01",
           "00-5bd66ef5095369c7b0d1f8f4bd33716g-c532cb4098ac3dd2-01",
           "00-5bd66ef5095369c7b0d1f8f4bd33716a-c532cb4098ac3dd2-0",
       })
    EXPECT_FALSE(parse_traceparent(bad)) << bad;
  EXPECT_EQ(read("SELECT 1 /*route='a',traceparent='nonsense'*/").route, "a");
}

}  // namespace
}  // namespace sluice::trace
