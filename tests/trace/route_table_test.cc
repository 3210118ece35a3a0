#include "trace/route_table.h"

#include <string>

#include <gtest/gtest.h>

namespace sluice::trace {
namespace {

Call traced() {
  Call call;
  call.trace = {1, 1};
  return call;
}

std::optional<std::uint32_t> count(RouteTable& table, std::string_view route, int times = 1) {
  std::optional<std::uint32_t> slot;
  for (int i = 0; i < times; ++i) {
    slot = table.slot_for(route, 1);
    if (slot) table.count(*slot, traced(), Origin{}, TimePoint());
  }
  return slot;
}

TEST(RouteTable, GivesEachRouteASlotUntilAllAreTaken) {
  RouteTable table(2);
  EXPECT_EQ(count(table, "/a"), 0U);
  EXPECT_EQ(count(table, "/b"), 1U);
  EXPECT_EQ(count(table, "/a"), 0U);
  EXPECT_FALSE(count(table, "/c"));
  EXPECT_EQ(table.routes().size(), 2U);
  EXPECT_EQ(table.routes()[0].calls, 2U);
}

TEST(RouteTable, GivesTheSlotOfALittleUsedRouteToABusyNewcomer) {
  RouteTable table(2);
  count(table, "/busy", 100);
  count(table, "/rare", 1);
  const RouteNumber rare = table.routes()[1].number;
  count(table, "/new", 50);
  count(table, "/once", 1);
  EXPECT_EQ(table.review(), std::vector<std::uint32_t>{1});
  EXPECT_EQ(table.routes()[0].name, "/busy");
  EXPECT_EQ(table.routes()[1].name, "/new");
  EXPECT_EQ(table.routes()[1].calls, 0U);
  // What is still under way for the route that was there does not count for this one.
  EXPECT_FALSE(table.close(rare, 5));
  EXPECT_TRUE(table.close(table.routes()[1].number, 5));
  EXPECT_EQ(table.routes()[1].requests(), 1U);
}

TEST(RouteTable, IsNotFloodedByRoutesThatAreCalledOnce) {
  RouteTable table(4);
  for (int minute = 0; minute < 50; ++minute) {
    for (const char* route : {"/a", "/b", "/c", "/d"})
      count(table, route, 3);
    for (int i = 0; i < 1000; ++i)
      count(table, "/junk" + std::to_string(minute * 1000 + i));
    EXPECT_LE(table.waiting(), 4U);
    EXPECT_TRUE(table.review().empty());
  }
  EXPECT_EQ(table.routes()[3].name, "/d");
}

TEST(RouteTable, ForgetsRoutesThatWentOutOfUse) {
  RouteTable table(1);
  count(table, "/old", 1000);
  int reviews = 0;
  while (table.routes()[0].name == "/old" && reviews < 100) {
    count(table, "/now", 10);
    table.review();
    ++reviews;
  }
  EXPECT_EQ(table.routes()[0].name, "/now");
  EXPECT_LT(reviews, 12);
}

TEST(RouteTable, KnowsUntracedShareErrorsAndClass) {
  RouteTable table(1);
  Call call = traced();
  const std::uint32_t slot = *table.slot_for("/a", 11);
  for (int i = 0; i < 9; ++i)
    table.count(slot, call, Origin{0, 1}, TimePoint());
  EXPECT_FALSE(table.routes()[0].usable());  // no request has been seen to its end
  table.close(table.routes()[0].number, 3);
  EXPECT_TRUE(table.routes()[0].usable());
  call.trace = {};
  call.failed = true;
  for (int i = 0; i < 2; ++i)
    table.count(slot, call, Origin{0, 0}, TimePoint(std::chrono::seconds(5)));
  const RouteRecord& route = table.routes()[0];
  EXPECT_EQ(route.errors, 2U);
  EXPECT_NEAR(route.untraced_share(), 2.0 / 11, 0.01);
  EXPECT_FALSE(route.usable());
  EXPECT_EQ(route.classes.greatest(), 1U);
  EXPECT_EQ(route.last_seen, TimePoint(std::chrono::seconds(5)));
}

}  // namespace
}  // namespace sluice::trace
