#include "placer/route_table.h"

#include <gtest/gtest.h>

namespace sluice::placer {
namespace {

std::string found(const RouteTable& table, const std::vector<RouteTable::Entry>& entries,
                  std::string_view path, std::string_view method = "GET") {
  const auto index = table.match(method, path);
  return index ? entries[*index].method + entries[*index].pattern : "";
}

TEST(RouteTable, PrefersWordsToNamesToStars) {
  const std::vector<RouteTable::Entry> entries = {{"/*", ""},     {"/a/*", ""},     {"/a/:id", ""},
                                                  {"/a/new", ""}, {"/a/:id/b", ""}, {"/a/:x/:y", ""},
                                                  {"/", ""}};
  const RouteTable table(entries);
  EXPECT_EQ(found(table, entries, "/"), "/");
  EXPECT_EQ(found(table, entries, "/a/new"), "/a/new");
  EXPECT_EQ(found(table, entries, "/a/7"), "/a/:id");
  EXPECT_EQ(found(table, entries, "/a/7/b"), "/a/:id/b");
  EXPECT_EQ(found(table, entries, "/a/7/c"), "/a/:x/:y");
  EXPECT_EQ(found(table, entries, "/a/new/b"), "/a/:id/b") << "goes back where a word leads nowhere";
  EXPECT_EQ(found(table, entries, "/a/7/c/d"), "/a/*");
  EXPECT_EQ(found(table, entries, "/a"), "/a/*") << "a star stands for nothing too";
  EXPECT_EQ(found(table, entries, "/a/"), "/a/*") << "a name is not empty";
  EXPECT_EQ(found(table, entries, "/b"), "/*");
}

TEST(RouteTable, PrefersAMethodAndTakesHeadForGet) {
  const std::vector<RouteTable::Entry> entries = {{"/a", ""}, {"/a", "POST"}, {"/b", "GET"}};
  const RouteTable table(entries);
  EXPECT_EQ(found(table, entries, "/a", "POST"), "POST/a");
  EXPECT_EQ(found(table, entries, "/a", "GET"), "/a");
  EXPECT_EQ(found(table, entries, "/b", "HEAD"), "GET/b");
  EXPECT_EQ(found(table, entries, "/b", "POST"), "");
}

TEST(RouteTable, ComparesPathsInNormalForm) {
  const std::vector<RouteTable::Entry> entries = {{"/a/feed", ""}, {"/a/:id", ""}};
  const RouteTable table(entries);
  for (const char* path : {"/a/feed", "/a/%66eed", "/a/./feed", "/a/x/../feed", "/a/x/%2e%2E/feed",
                           "/../a/feed", "/b/../../a/feed"})
    EXPECT_EQ(found(table, entries, path), "/a/feed") << path;
  for (const char* path : {"/a/b%2Ffeed", "/a/Feed", "/a/feed%20", "/a/%zz", "/a/%"})
    EXPECT_EQ(found(table, entries, path), "/a/:id") << path;
  for (const char* path : {"", "*", "a/feed", "//a/feed", "/a/feed/", "/a//feed", "/a%2ffeed"})
    EXPECT_EQ(found(table, entries, path), "") << path;
}

TEST(NormalPath, ResolvesDotsAtTheEnd) {
  std::string scratch;
  EXPECT_EQ(normal_path("/a/b/..", scratch), "/a/");
  EXPECT_EQ(normal_path("/a/.", scratch), "/a/");
  EXPECT_EQ(normal_path("/..", scratch), "/");
  EXPECT_EQ(normal_path("/a/...", scratch), "/a/...");
  EXPECT_EQ(normal_path("/.well-known/x", scratch), "/.well-known/x");
}

TEST(RouteTable, FindsEachOfAThousandRoutes) {
  std::vector<RouteTable::Entry> entries;
  for (int i = 0; i < 1000; ++i)
    entries.push_back({"/section" + std::to_string(i % 30) + "/:id/page" + std::to_string(i), ""});
  const RouteTable table(entries);
  for (std::uint32_t i = 0; i < 1000; ++i)
    EXPECT_EQ(table.match("GET", "/section" + std::to_string(i % 30) + "/x/page" + std::to_string(i)), i);
}

}  // namespace
}  // namespace sluice::placer
