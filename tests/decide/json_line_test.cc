#include "decide/json_line.h"

#include <gtest/gtest.h>

namespace sluice::decide {
namespace {

std::string problem_of(const std::string& text) {
  return parse_json_line(text).problem;
}

TEST(JsonLine, ReadsAnEvent) {
  const JsonLine line = parse_json_line(R"({"op":"close","id":"s1"})");
  EXPECT_EQ(line.problem, "");
  EXPECT_EQ(line.value["id"], "s1");
}

TEST(JsonLine, NamesTheByteWhereTheTextStopsBeingJson) {
  EXPECT_EQ(problem_of("{\"op\":}"), "not valid JSON at byte 7");
  EXPECT_EQ(problem_of("{} {}"), "not valid JSON at byte 4");
  EXPECT_NE(problem_of("\"\xff\""), "");
  EXPECT_NE(problem_of(std::string("\0", 1)), "");
  EXPECT_NE(problem_of(R"({"a":"\ud800"})"), "");
}

TEST(JsonLine, RefusesNumbersThatNothingHolds) {
  EXPECT_EQ(problem_of("[1e999]"), "a number is out of range");
}

TEST(JsonLine, RefusesDeepNestingWithoutBuildingIt) {
  for (const char* open : {"[", "{\"a\":"}) {
    std::string deep;
    for (int i = 0; i < 100'000; ++i)
      deep += open;
    EXPECT_NE(problem_of(deep), "");
    const char close = open[0] == '[' ? ']' : '}';
    const std::string closed = deep + "1" + std::string(100'000, close);
    EXPECT_EQ(problem_of(closed), "nested deeper than 8 levels");
  }
}

TEST(JsonLine, RefusesAKeyThatIsThereTwice) {
  EXPECT_EQ(problem_of(R"({"a":1,"a":2})"), "key \"a\" is there twice");
  EXPECT_EQ(problem_of(R"({"a":{"b":1},"c":{"b":1}})"), "");
}

TEST(InJsonQuotes, GivesOneLineWhateverTheText) {
  EXPECT_EQ(in_json_quotes("a\nb\"\xff"), "\"a\\nb\\\"\\ufffd\"");
  EXPECT_EQ(in_json_quotes(std::string(100, 'x')), "\"" + std::string(64, 'x') + "\"...");
}

}  // namespace
}  // namespace sluice::decide
