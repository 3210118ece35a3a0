#include "top/sample.h"

#include <gtest/gtest.h>

#include "top/text_width.h"

namespace sluice::top {
namespace {

using namespace std::string_literals;

TEST(Table, GivesValuesByColumn) {
  Table table({"name", "sessions"});
  table.add_row({"r0", "3"});
  table.add_row({"r1", std::nullopt});
  EXPECT_EQ(table.size(), 2U);
  EXPECT_EQ(table.text(0, "name"), "r0");
  EXPECT_EQ(table.number(0, "sessions"), 3);
  EXPECT_FALSE(table.number(1, "sessions"));
  EXPECT_EQ(table.count(1, "sessions"), 0);
  EXPECT_EQ(table.sum("sessions"), 3);
  EXPECT_EQ(table.find("name", "r0", "sessions"), "3");
}

TEST(Table, AnswersForWhatAnotherVersionDoesNotHave) {
  Table table({"name"});
  table.add_row({"r0", "more than there are columns"});
  table.add_row({});
  EXPECT_EQ(table.text(0, "nosuch"), "");
  EXPECT_EQ(table.text(7, "name"), "");
  EXPECT_EQ(table.text(1, "name"), "");
  EXPECT_EQ(table.sum("nosuch"), 0);
  EXPECT_EQ(table.find("name", "r9", "name"), "");
}

TEST(Sample, NeedsAnAnswerToEachQuestion) {
  EXPECT_TRUE(make_sample(std::vector<Table>(kQuestionCount), {}));
  EXPECT_FALSE(make_sample(std::vector<Table>(kQuestionCount - 1), {}));
  EXPECT_FALSE(make_sample({}, {}));
}

TEST(Counts, AreReadInOrderAndNothingElseIs) {
  const auto counts = parse_counts("premium=3,freemium=0");
  ASSERT_EQ(counts.size(), 2U);
  EXPECT_EQ(counts[0].first, "premium");
  EXPECT_EQ(counts[0].second, 3);
  EXPECT_TRUE(parse_counts("").empty());
  EXPECT_TRUE(parse_counts("a,b=,=x,c=1x,").empty());
  EXPECT_EQ(parse_counts("a=b=2")[0].first, "a=b");
}

TEST(Fit, CutsAndPadsByCharacters) {
  EXPECT_EQ(fit("abcdef", 3), "abc");
  EXPECT_EQ(fit("ab", 4, Pad::Right), "ab  ");
  EXPECT_EQ(fit("ab", 4, Pad::Left), "  ab");
  EXPECT_EQ(fit("caf\xc3\xa9s", 4), "caf\xc3\xa9");
  EXPECT_EQ(width("caf\xc3\xa9"), 4U);
}

TEST(Fit, ShowsNothingThatATerminalWouldObey) {
  EXPECT_EQ(fit("a\033[2Jb", 10), "a?[2Jb");
  EXPECT_EQ(fit("a\nb\tc\x7f", 10), "a?b?c?");
  EXPECT_EQ(fit("a\xff\xfe", 10), "a??");
  EXPECT_EQ(fit("\xc2\x9b"
                "31m",
                10),
            "?31m")
      << "C1 control sequence introducer";
  EXPECT_EQ(fit("a\0b"s, 10), "a?b");
}

}  // namespace
}  // namespace sluice::top
