#include "bench/workload.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace sluice::bench {
namespace {

std::variant<Workload, Problem> parsed(std::vector<SourceFile> files) {
  return parse_workload("mine", std::move(files), *Scale::parse("2"));
}

TEST(Workload, SortsFilesByWhatTheyAreFor) {
  const auto result = parsed({{"z.sql", "select 2"},
                              {"init_02_b.sql", "b :scale"},
                              {"check.sql", "select :scale"},
                              {"a.sql", "select 1"},
                              {"notes.txt", "not read"},
                              {"init_01_a.sql", "a"}});
  ASSERT_TRUE(std::holds_alternative<Workload>(result)) << std::get<Problem>(result).text();
  const auto& workload = std::get<Workload>(result);
  ASSERT_EQ(workload.init.size(), 2U);
  EXPECT_EQ(workload.init[0].name, "init_01_a.sql");
  EXPECT_EQ(workload.init[1].text, "b 2");
  EXPECT_EQ(workload.check->text, "select 2");
  ASSERT_EQ(workload.queries.size(), 2U);
  EXPECT_EQ(workload.queries[0].name, "a");
}

TEST(Workload, HasADigestOfWhatIsRun) {
  const auto digest = [](std::vector<SourceFile> files) {
    return std::get<Workload>(parsed(std::move(files))).digest;
  };
  const std::string first = digest({{"a.sql", "select 1"}, {"init_1.sql", "x"}});
  EXPECT_EQ(first.size(), 16U);
  EXPECT_EQ(digest({{"init_1.sql", "x"}, {"a.sql", "select 1"}, {"notes.txt", "n"}, {"check.sql", "c"}}),
            first);
  EXPECT_NE(digest({{"a.sql", "select 2"}, {"init_1.sql", "x"}}), first) << "another query";
  EXPECT_NE(digest({{"a.sql", "select 1"}, {"init_1.sql", "y"}}), first) << "other data";
  EXPECT_NE(digest({{"a.sql", "select 1"}}), first);
  EXPECT_NE(digest({{"a.sql", "select 1"}, {"b.sql", "select 2"}}),
            digest({{"a.sql", "select 1b.sqlselect 2"}}));
}

TEST(Workload, NamesTheFileThatIsWrong) {
  const auto result = parsed({{"a.sql", "select 1"}, {"b.sql", "select\n:x"}});
  ASSERT_TRUE(std::holds_alternative<Problem>(result));
  EXPECT_TRUE(std::get<Problem>(result).text().starts_with("b.sql:2: "));
  EXPECT_TRUE(std::holds_alternative<Problem>(parsed({{"init_01.sql", "x"}})));
}

// The program's own, at every scale they are meant for.
TEST(EmbeddedWorkloads, CanBeReadAndDrawnFrom) {
  const auto names = embedded_names();
  EXPECT_NE(std::find(names.begin(), names.end(), "pareto"), names.end());
  EXPECT_NE(std::find(names.begin(), names.end(), "pgbench-like"), names.end());
  for (const std::string& name : names)
    for (const char* scale : {"0.001", "0.01", "1", "30"}) {
      const auto result = parse_workload(name, embedded_sources(name), *Scale::parse(scale));
      ASSERT_TRUE(std::holds_alternative<Workload>(result))
          << name << " at " << scale << ": " << std::get<Problem>(result).text();
      const auto& workload = std::get<Workload>(result);
      EXPECT_FALSE(workload.init.empty()) << name;
      EXPECT_TRUE(workload.check.has_value()) << name;
      Rng rng(1);
      for (const QueryShape& shape : workload.queries)
        for (const auto& value : shape.draw(rng))
          EXPECT_TRUE(value.has_value()) << name << " " << shape.name;
    }
  EXPECT_TRUE(embedded_sources("nothing").empty());
}

}  // namespace
}  // namespace sluice::bench
