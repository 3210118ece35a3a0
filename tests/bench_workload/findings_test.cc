#include "bench/findings.h"

#include <gtest/gtest.h>

#include "bench/report.h"
#include "tests/bench_workload/example_run.h"

namespace sluice::bench {
namespace {

std::vector<RunInfo> runs() {
  std::vector<RunInfo> out;
  for (std::size_t repetition = 1; repetition <= 5; ++repetition) {
    const double load = 1 + 0.2 * static_cast<double>(repetition);  // what the repetition brings, for both
    const double noise = 1 + 0.001 * static_cast<double>(repetition % 2);
    out.push_back(example_run("round_robin", 300, 0.5, repetition, load));
    out.push_back(example_run("plb", 300, 0.5, repetition, load * 0.9 * noise));
  }
  out.push_back(example_run("plb", 100, 0.2, 1, 1));
  return out;
}

const Finding* median_of_premium(const std::vector<Finding>& findings) {
  for (const Finding& f : findings)
    if (f.test.which == 0 && f.test.metric == sim::Metric::Median) return &f;
  return nullptr;
}

TEST(Findings, GatherRunsOfAConfigurationInOneRow) {
  const auto groups = groups_of(runs());
  ASSERT_EQ(groups.size(), 1U);
  ASSERT_EQ(groups[0].rows.size(), 3U);
  EXPECT_EQ(groups[0].rows[0].sessions, 100);
  EXPECT_EQ(groups[0].rows[1].strategy, "plb");
  EXPECT_EQ(groups[0].rows[1].median[0].size(), 5U);
  EXPECT_EQ(groups[0].repetitions[1], (std::vector<std::size_t>{1, 2, 3, 4, 5}));
  EXPECT_TRUE(groups[0].has_utilization);
  EXPECT_EQ(groups[0].errors, 11U);
}

TEST(Findings, KeepApartWhatMayNotBeCompared) {
  auto all = runs();
  all[0].key.budget = 6;
  all[1].key.mode = PoolMode::Transaction;
  all[2].key.scale = "2";
  all[3].key.think = "1";
  EXPECT_EQ(groups_of(all).size(), 5U);
}

TEST(Findings, SeeByPairsWhatTheRepetitionsHide) {
  const auto groups = groups_of(runs());
  const auto findings = findings_of(groups[0], "round_robin");
  EXPECT_EQ(findings.size(), 4U) << "median and p95 of two classes, in the one configuration that both ran";
  const Finding* const f = median_of_premium(findings);
  ASSERT_NE(f, nullptr);
  EXPECT_NEAR(f->test.change, -0.1, 0.002);
  EXPECT_GT(f->test.p, 0.05) << "the repetitions differ by more than the strategies";
  ASSERT_TRUE(f->paired);
  EXPECT_NEAR(f->paired->estimate, -0.1, 0.001);
  EXPECT_LT(f->paired->high, -0.098);
  EXPECT_LE(f->difference.low, f->difference.estimate);
  EXPECT_GE(f->difference.high, f->difference.estimate);
}

TEST(Findings, PairOnlyWhatBothRan) {
  auto all = runs();
  all.erase(all.begin() + 2, all.begin() + 8);  // plb and round robin keep repetitions 1 and 5
  all[0].key.repetition = 7;                    // of round robin
  const auto findings = findings_of(groups_of(all)[0], "round_robin");
  ASSERT_NE(median_of_premium(findings), nullptr);
  EXPECT_FALSE(median_of_premium(findings)->paired) << "one pair has no interval";
}

TEST(Findings, SayThatOneRunIsNoTest) {
  auto all = runs();
  all.erase(all.begin() + 2, all.begin() + 10);
  const auto groups = groups_of(all);
  const auto findings = findings_of(groups[0], "round_robin");
  ASSERT_NE(median_of_premium(findings), nullptr);
  EXPECT_FALSE(median_of_premium(findings)->repeated);
  const auto table = findings_table(groups[0], findings).rows();
  EXPECT_EQ(table.at(1).at(9), "-") << "no interval";
  EXPECT_EQ(table.at(1).at(10), "-") << "no p";
  EXPECT_NE(table.at(1).at(5), "-") << "but a change";
  EXPECT_TRUE(page_of(groups, "round_robin", "").sections[3].charts.empty());
}

TEST(Findings, LeaveOutAClassThatNobodyBelongsTo) {
  auto all = runs();
  for (RunInfo& run : all)
    run.summary.classes[1] = {};
  for (const Finding& f : findings_of(groups_of(all)[0], "round_robin"))
    EXPECT_EQ(f.test.which, 0U);
}

TEST(Findings, AreNoneWithoutTheBaseline) {
  EXPECT_TRUE(findings_of(groups_of(runs())[0], "least_loaded").empty());
}

TEST(Report, HasChartsAndTablesOfEveryGroup) {
  auto all = runs();
  all.push_back(example_run("plb", 100, 0.5, 1, 1));  // so that one share has two loads
  const auto groups = groups_of(all);
  const report::Report page = page_of(groups, "round_robin", "sluice bench report x");
  ASSERT_EQ(page.sections.size(), 5U);
  EXPECT_EQ(page.sections[0].charts.size(), 3U) << "median of two classes and a p95, at that share";
  for (const report::Chart& chart : page.sections[1].charts) {
    ASSERT_EQ(chart.series.size(), 2U) << "every strategy, that each has one colour";
    EXPECT_EQ(chart.series[0].name, "plb");
  }
  EXPECT_EQ(page.sections[3].table.size(), 1 + findings_of(groups[0], "round_robin").size());
  EXPECT_EQ(page.sections[4].table.size(), 5U);
  EXPECT_NE(report::page(page).find("-log10 p"), std::string::npos);
  EXPECT_EQ(runs_table(all).rows().size(), 1 + 2 * all.size());
  EXPECT_EQ(findings_csv(groups, "round_robin").rows().size(), 5U);
}

}  // namespace
}  // namespace sluice::bench
