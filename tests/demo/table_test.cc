#include "demo/table.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace sluice::demo {
namespace {

TableState state() {
  TableState state;
  state.elapsed = std::chrono::seconds(65);
  state.phase = "Premium rush";
  state.classes = {{"premium", {0.0051, 0.0123, 230}, 3, 2},
                   {"freemium", {std::nullopt, std::nullopt, 0}, 1, 0}};
  state.replicas = {{"primary", "primary", "", false, true, {0, 0}},
                    {"r1", "replica", "premium", false, true, {4, 0}},
                    {"r2", "replica", "premium", true, true, {3, 1}},
                    {"r3", "replica", "mixed", false, true, {0, 0}},
                    {"r4", "replica", "freemium", false, false, {0, 2}}};
  for (int i = 1; i <= 30; ++i)
    state.changes.push_back(
        {i, "12:00:" + std::to_string(10 + i), "premium", "r2", "mixed", "premium", true});
  return state;
}

bool has_line_with(const std::vector<std::string>& lines, const std::vector<std::string>& words) {
  return std::any_of(lines.begin(), lines.end(), [&](const std::string& line) {
    return std::all_of(words.begin(), words.end(),
                       [&](const auto& word) { return line.find(word) != std::string::npos; });
  });
}

TEST(Table, ShowsReplicasClassesAndChanges) {
  const auto lines = table_lines(state(), 120, 60, Colour::Off);
  EXPECT_TRUE(has_line_with(lines, {"1:05", "Premium rush"}));
  EXPECT_TRUE(has_line_with(lines, {"r2", "standby", "premium (borrowed)", "3", "1"}));
  EXPECT_TRUE(has_line_with(lines, {"r4", "down"}));
  EXPECT_TRUE(has_line_with(lines, {"premium", "7", "r1 +r2", "5.1 ms", "12.3 ms", "230"}));
  EXPECT_TRUE(has_line_with(lines, {"freemium", " - "}));
  EXPECT_TRUE(has_line_with(lines, {"12:00:40", "premium borrows r2 from mixed"}));
}

TEST(Table, IsNeverLargerThanTheTerminal) {
  for (std::size_t columns : {0U, 1U, 20U, 80U, 300U}) {
    for (std::size_t rows : {0U, 1U, 5U, 16U, 24U, 200U}) {
      const auto lines = table_lines(state(), columns, rows, Colour::Off);
      EXPECT_LE(lines.size(), rows);
      for (const std::string& line : lines)
        EXPECT_LE(line.size(), columns);
    }
  }
}

TEST(Table, KeepsTheNewestChangesWhereThereAreTooMany) {
  const auto lines = table_lines(state(), 120, 24, Colour::Off);
  EXPECT_TRUE(has_line_with(lines, {"12:00:40"}));
  EXPECT_FALSE(has_line_with(lines, {"12:00:11"}));
}

TEST(Table, ColoursWithoutChangingTheText) {
  auto coloured = table_lines(state(), 80, 24, Colour::On);
  const auto plain = table_lines(state(), 80, 24, Colour::Off);
  ASSERT_EQ(coloured.size(), plain.size());
  for (std::size_t i = 0; i < plain.size(); ++i) {
    std::string& line = coloured[i];
    for (std::size_t at; (at = line.find('\033')) != std::string::npos;)
      line.erase(at, line.find('m', at) - at + 1);
    EXPECT_EQ(line, plain[i]);
  }
}

TEST(Table, StaysInShapeBeforeAnythingIsKnown) {
  TableState empty;
  empty.classes = {{"premium", {}, 0, 0}};
  EXPECT_TRUE(has_line_with(table_lines(empty, 80, 24, Colour::Off), {"premium", "-"}));
  EXPECT_NE(status_line(empty).find("premium: 0 sessions on -"), std::string::npos);
}

TEST(Table, SaysInOneLineWhatATableSays) {
  const std::string line = status_line(state());
  EXPECT_NE(line.find("premium: 7 sessions on r1 +r2, median 5.1 ms, p95 12.3 ms;"), std::string::npos)
      << line;
  EXPECT_NE(line.find("mixed: r3"), std::string::npos) << line;
  EXPECT_EQ(line.find('\n'), std::string::npos);
}

TEST(Table, SaysWhereThePlacerSendsPages) {
  TableState placed = state();
  placed.routes = {
      {"/item", "edge", "adaptive", 1.0}, {"/feed", "core", "adaptive", 8.0}, {"/new", "", "user_first", {}}};
  const auto lines = table_lines(placed, 120, 60, Colour::Off);
  EXPECT_TRUE(has_line_with(lines, {"/feed", "core", "8.0", "adaptive"}));
  EXPECT_TRUE(has_line_with(lines, {"/new", "nowhere", " - ", "user_first"}));
  EXPECT_NE(status_line(placed).find("; /item on edge, /feed on core"), std::string::npos);
  EXPECT_TRUE(has_line_with(summary_lines(placed, 1, 0), {"placement: /item on edge, /feed on core"}));
}

TEST(Table, WordsAReturnTheOtherWayRound) {
  EXPECT_EQ(change_line({1, "12:00:00", "premium", "r5", "premium", "mixed", false}),
            "12:00:00  premium returns r5 to mixed");
}

TEST(Table, SummaryAddsUpTheClasses) {
  const auto lines = summary_lines(state(), 12, 1);
  EXPECT_TRUE(has_line_with(lines, {"Summary after 65 s"}));
  EXPECT_TRUE(has_line_with(lines, {"borrowings: 4", "returns: 2"}));
  EXPECT_TRUE(has_line_with(lines, {"12 pgbench runs, 1 failed"}));
}

TEST(Table, RoundsTimesToWhatCanBeRead) {
  EXPECT_EQ(milliseconds_text(std::nullopt), "-");
  EXPECT_EQ(milliseconds_text(0.00042), "0.4 ms");
  EXPECT_EQ(milliseconds_text(1.5), "1500 ms");
}

}  // namespace
}  // namespace sluice::demo
