#include "bench/query_file.h"

#include <set>

#include <gtest/gtest.h>

namespace sluice::bench {
namespace {

std::variant<QueryShape, Problem> parse(const std::string& text, const char* scale = "0.01") {
  return parse_query_file({"query_03.sql", text}, *Scale::parse(scale));
}

QueryShape shape(const std::string& text, const char* scale = "0.01") {
  const auto parsed = parse(text, scale);
  if (const auto* const problem = std::get_if<Problem>(&parsed)) {
    ADD_FAILURE() << problem->text();
    return {};
  }
  return std::get<QueryShape>(parsed);
}

std::string problem(const std::string& text) {
  const auto parsed = parse(text);
  const auto* const found = std::get_if<Problem>(&parsed);
  return found == nullptr ? "none" : found->text();
}

TEST(QueryFile, ReadsParametersAndNumbersThemAsTheyAreUsed) {
  const QueryShape q = shape(
      "-- what it is about\n\\set size random(1, 50)\n\\set region choice('ASIA', 'O''BRIEN')\n"
      "\\set part random(-3, 200000 * :scale)\n\n"
      "select * from t where r = :region and p = :part::int and s < :size::int + :size;\n");
  EXPECT_EQ(q.name, "query_03");
  EXPECT_EQ(q.sql, "select * from t where r = $1 and p = $2::int and s < $3::int + $3");
  ASSERT_EQ(q.parameters.size(), 3U);
  EXPECT_EQ(q.parameters[0], (Parameter{"region", RandomChoice{{"ASIA", "O'BRIEN"}}}));
  EXPECT_EQ(q.parameters[1], (Parameter{"part", RandomInteger{-3, 2000}}));
  EXPECT_EQ(q.parameters[2], (Parameter{"size", RandomInteger{1, 50}}));
}

TEST(QueryFile, LeavesLiteralsNamesCommentsAndCastsAlone) {
  const std::string text =
      "select ':x', E'\\':x', \":x\", $$:x$$, $t$ :x $t$, 1::x -- :x\n/* :x /* :x */ */, a[1:2], '1'::text";
  EXPECT_EQ(shape(text).sql, text);
}

TEST(QueryFile, PutsTheScaleItself) {
  EXPECT_EQ(shape("select 0.0001 / :scale, ':scale', 'a'::scale", "0.05").sql,
            "select 0.0001 / 0.05, ':scale', 'a'::scale");
}

TEST(QueryFile, NamesTheLineOfWhatIsWrong) {
  EXPECT_EQ(problem("select 1,\n  :what\nfrom t"),
            "query_03.sql:2: unknown parameter :what; set it with \\set");
  EXPECT_EQ(problem("\\set a random(1, 2)\n\\set b random(5, 10 * :scale)\nselect :a, :b"),
            "query_03.sql:2: random(5, 0) holds no number at scale 0.01");
  EXPECT_EQ(problem("\n\\set a random(1, 2)\nselect 1"), "query_03.sql:2: nothing uses :a");
  EXPECT_EQ(problem("\\set a random(1, 2)\n\\set a random(1, 2)\nselect :a"),
            "query_03.sql:2: :a is set twice");
  EXPECT_EQ(problem("select 1;\nselect 2"),
            "query_03.sql:2: a file holds one statement; a second one begins here");
  EXPECT_EQ(problem("select 1\n\\set a random(1, 2)"),
            "query_03.sql:2: \\set lines stand before the statement");
  EXPECT_EQ(problem("-- nothing\n"), "query_03.sql:2: there is no statement in it");
  EXPECT_EQ(problem("\\gset\nselect 1"), "query_03.sql:1: of psql's commands only \\set is known here");
  EXPECT_EQ(problem(std::string("select '\0'", 10)), "query_03.sql:1: there is a zero byte in it");
}

TEST(QueryFile, RefusesWhatIsNoParameter) {
  for (const char* line :
       {"\\set", "\\set a", "\\set a random", "\\set a random(1)", "\\set a random(1, 2",
        "\\set a random(1.5, 2)", "\\set a random(1, 2) 3", "\\set a random(-1 * :scale, 2)",
        "\\set a random(1, 2 * :other)", "\\set a random(1, 99999999999999999999)",
        "\\set a random(1, 9000000000000000000 * :scale)", "\\set a choice()", "\\set a choice(1)",
        "\\set a choice('x',)", "\\set 1 random(1, 2)", "\\set scale random(1, 2)", "\\set a gaussian(1, 2)",
        "\\set a random(2, 1)"})
    EXPECT_TRUE(problem(std::string(line) + "\nselect :a").starts_with("query_03.sql:1: ")) << line;
}

TEST(QueryShape, DrawsEveryValueAndNoOther) {
  const QueryShape q = shape("\\set n random(-1, 1)\n\\set c choice('x', 'y')\nselect :n, :c");
  Rng rng(5);
  std::set<std::string> numbers, choices;
  for (int i = 0; i < 200; ++i) {
    const auto values = q.draw(rng);
    ASSERT_EQ(values.size(), 2U);
    numbers.insert(values[0].value_or("none"));
    choices.insert(values[1].value_or("none"));
  }
  EXPECT_EQ(numbers, (std::set<std::string>{"-1", "0", "1"}));
  EXPECT_EQ(choices, (std::set<std::string>{"x", "y"}));
}

TEST(QueryShape, DrawsFromTheWholeRangeOfIntegers) {
  QueryShape q;
  q.parameters.push_back({"n", RandomInteger{INT64_MIN, INT64_MAX}});
  Rng rng(1);
  EXPECT_NE(q.draw(rng)[0], q.draw(rng)[0]);
}

TEST(WithScale, ReplacesTheWordWhereverItStands) {
  const Scale scale = *Scale::parse("0.5");
  EXPECT_EQ(with_scale(":scale ':scale' $$ n * :scale$$", scale), "0.5 '0.5' $$ n * 0.5$$");
  EXPECT_EQ(with_scale("x::scale :scaled :scale_2 :scale::int a:scale", scale),
            "x::scale :scaled :scale_2 0.5::int a0.5");
  EXPECT_EQ(with_scale(":scal", scale), ":scal");
}

}  // namespace
}  // namespace sluice::bench
