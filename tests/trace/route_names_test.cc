#include "trace/route_names.h"

#include <string>
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

}  // namespace
}  // namespace sluice::trace
