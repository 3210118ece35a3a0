#include "trace/route_names.h"

#include <array>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace sluice::trace {
namespace {

WrittenTags route(std::string_view written) {
  WrittenTags tags;
  tags.route = written;
  return tags;
}

WrittenTags action(std::string_view controller, std::string_view name) {
  WrittenTags tags;
  tags.controller = controller;
  tags.action = name;
  return tags;
}

TEST(RouteNames, SharesTheNameOfARouteThatIsSeenAgain) {
  RouteNames names;
  const RouteName feed = names.of(route("%2Ffeed"));
  ASSERT_TRUE(feed);
  EXPECT_EQ(*feed, "/feed");
  EXPECT_EQ(names.of(route("%2Ffeed")), feed);
  const RouteName show = names.of(action("articles", "show"));
  ASSERT_TRUE(show);
  EXPECT_EQ(*show, "articles#show");
  EXPECT_EQ(names.of(action("articles", "show")), show);
  EXPECT_EQ(*names.of(action("articles", "")), "articles");
  EXPECT_EQ(*names.of(route("articles")), "articles");
}

TEST(RouteName, LivesAsLongAsAnyThatSharesIt) {
  RouteName copy;
  EXPECT_FALSE(copy);
  {
    const RouteName feed("/feed");
    copy = feed;
    EXPECT_EQ(copy, feed);
    EXPECT_NE(copy, RouteName("/feed"));
  }
  RouteName moved = std::move(copy);
  RouteName& same = moved;
  moved = same;
  EXPECT_EQ(*moved, "/feed");
  moved = RouteName();
  EXPECT_FALSE(moved);
}

TEST(RouteNames, GivesNoneForWhatIsNoRoute) {
  RouteNames names;
  for (int time = 0; time < 2; ++time) {
    EXPECT_FALSE(names.of(WrittenTags()));
    EXPECT_FALSE(names.of(route("%zz")));
    EXPECT_FALSE(names.of(route(std::string(129, 'x'))));
    EXPECT_FALSE(names.of(route(std::string(2000, 'x'))));
    EXPECT_FALSE(names.of(action("", "show")));
    WrittenTags bad_route = action("articles", "show");
    bad_route.route = "%zz";
    EXPECT_EQ(*names.of(bad_route), "articles#show");
  }
}

TEST(RouteNames, TellsRoutesApartThatAreMoreThanItHasPlacesFor) {
  RouteNames names;
  for (int time = 0; time < 2; ++time)
    for (int i = 0; i < 2000; ++i) {
      const std::string text = "/r" + std::to_string(i);
      ASSERT_EQ(*names.of(route(text)), text);
      ASSERT_EQ(*names.of(action(text, "a")), text + "#a");
    }
}

TEST(RouteNames, TakesTheLongestRouteHoweverItIsEncoded) {
  RouteNames names;
  std::string written;
  for (std::size_t i = 0; i < kRouteBytesMax; ++i)
    written += "%41";
  EXPECT_EQ(*names.of(route(written)), std::string(kRouteBytesMax, 'A'));
  EXPECT_FALSE(names.of(route(written + "%41")));
}

// Whatever was read before, a comment is read as it is without a memory.
TEST(RouteNames, ReadsCommentsAsTheyAreReadTheFirstTime) {
  const std::string parent = "00-5bd66ef5095369c7b0d1f8f4bd33716a-c532cb4098ac3dd2-01";
  const std::vector<std::string> beginnings = {
      "",
      "route='%2Ffeed',",
      "route='%2Ffeed' , ",
      "action='show',controller='articles',",
      "framework='rails',",
      "route='it\\'s',",
      "route='a\\',b='",
      "nonsense ",
      "route='/x',traceparent='" + parent + "',",
      std::string(600, 'k') + "='v',",
  };
  const std::vector<std::string> parents = {
      parent,
      "00-00000000000000000000000000000001-c532cb4098ac3dd2-01",
      "00-00000000000000000000000000000000-c532cb4098ac3dd2-01",
      "00-5bd66ef5095369c7b0d1f8f4bd33716a-c532cb4098ac3dd2-0'",
      "00-5bd66ef5095369c7b0d1f8f4bd33716a-c532cb4098ac3dd2-0\\",
      "0',b='5369c7b0d1f8f4bd33716a-c532cb4098ac3dd2-01aaaaaaaa",
      "01-5bd66ef5095369c7b0d1f8f4bd33716a-c532cb4098ac3dd2-01-more",
  };
  RouteNames names;
  std::array<RouteNames::Hint, 3> hints{};  // of as many sessions
  std::mt19937 rng(1);
  for (int i = 0; i < 20000; ++i) {
    std::string sql = "/*" + beginnings[rng() % beginnings.size()];
    if (rng() % 8 != 0) sql += "traceparent='";
    sql += parents[rng() % parents.size()];
    for (const char* const end : {"'", "' ", ",c='d'", ""})
      if (rng() % 2 == 0) {
        sql += end;
        break;
      }
    sql += "*/";
    if (rng() % 4 != 0) sql = "SELECT 1 " + sql;
    if (rng() % 8 == 0) sql = "/*route='in-front'*/ " + sql;
    const Tags expected = read_comments(sql, sql);
    const RouteNames::Named named = names.read(sql, sql, hints[rng() % hints.size()]);
    ASSERT_EQ(named.route ? *named.route : "", expected.route) << sql;
    ASSERT_EQ(named.trace, expected.trace) << sql;
  }
}

}  // namespace
}  // namespace sluice::trace
