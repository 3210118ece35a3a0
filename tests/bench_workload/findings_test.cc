#include "bench/findings.h"

#include <algorithm>
#include <initializer_list>
#include <string>

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
  EXPECT_EQ(groups[0].service[1].lost[0].refused, 5U);
  EXPECT_EQ(groups[0].service[1].waiting_mean[0], (std::vector<double>(5, 0.5)));
}

TEST(Findings, KeepApartWhatMayNotBeCompared) {
  auto all = runs();
  all[0].key.budget = 6;
  all[1].key.mode = PoolMode::Transaction;
  all[2].key.scale = "2";
  all[3].key.think = "1";
  EXPECT_EQ(groups_of(all).size(), 5U);
}

// Runs of another seed had other sessions, and those that also asked who serves each query had more work to
// do: they were paired by their repetition's number.
TEST(Findings, PairOnlyRunsThatWereAskedForAlike) {
  const auto expect_apart = [](const char* what, void (*change)(RunInfo&)) {
    auto all = runs();
    for (RunInfo& run : all)
      if (run.key.strategy == "plb") change(run);
    const auto groups = groups_of(all);
    ASSERT_EQ(groups.size(), 2U) << what;
    EXPECT_NE(groups[0].title, groups[1].title) << what;
    EXPECT_NE(groups[0].title.find(what), std::string::npos) << groups[0].title;
    for (const Group& group : groups)
      EXPECT_TRUE(findings_of(group, "round_robin").empty()) << what;
    EXPECT_NE(kept_apart(all).find(what), std::string::npos) << kept_apart(all);
    EXPECT_EQ(page_of(groups, "round_robin", "", kept_apart(all)).sections[0].heading, "Sets of runs");
  };
  expect_apart("seed", [](RunInfo& run) { run.key.seed = 2; });
  expect_apart("replica asked", [](RunInfo& run) { run.key.ask_replica = AskReplica::PerQuery; });
  expect_apart("digest", [](RunInfo& run) { run.key.digest = "fedcba9876543210"; });
  expect_apart("query timeout", [](RunInfo& run) { run.key.query_timeout = 1; });
  expect_apart("connect timeout", [](RunInfo& run) { run.key.connect_timeout = 1; });
  expect_apart("drain", [](RunInfo& run) { run.key.drain = 1; });
  expect_apart("hosts", [](RunInfo& run) { run.key.hosts = {"a"}; });
  expect_apart("warm-up", [](RunInfo& run) { run.key.warm_up = 1; });
  expect_apart("lifetime", [](RunInfo& run) { run.key.lifetime_max = 99; });
  expect_apart("classes", [](RunInfo& run) { run.class_names = {"gold", "lead"}; });
  EXPECT_EQ(kept_apart(runs()), "");
  EXPECT_EQ(kept_apart({}), "");
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
  EXPECT_TRUE(page_of(groups, "round_robin", "", "").sections[4].charts.empty());
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
  const report::Report page = page_of(groups, "round_robin", "sluice bench report x", "");
  ASSERT_EQ(page.sections.size(), 6U);
  EXPECT_EQ(page.sections[0].charts.size(), 3U) << "median of two classes and a p95, at that share";
  for (const report::Chart& chart : page.sections[1].charts) {
    ASSERT_EQ(chart.series.size(), 2U) << "every strategy, that each has one colour";
    EXPECT_EQ(chart.series[0].name, "plb");
  }
  EXPECT_EQ(page.sections[2].table.size(), 1 + 2 * groups[0].rows.size()) << "what was lost, a row per class";
  EXPECT_EQ(page.sections[2].charts.size(), 4U) << "waiting, per class and T";
  EXPECT_EQ(page.sections[4].table.size(), 1 + findings_of(groups[0], "round_robin").size());
  EXPECT_EQ(page.sections[5].table.size(), 5U);
  EXPECT_NE(page.sections[3].paragraphs.back().find("/proc, utilization 1 is cores:N"), std::string::npos);
  EXPECT_NE(report::page(page).find("-log10 p"), std::string::npos);
  EXPECT_EQ(runs_table(all).rows().size(), 1 + 2 * all.size());
  EXPECT_EQ(findings_csv(groups, "round_robin").rows().size(), 5U);
}

// A strategy that refuses a third of a class has a better median: the reader has to see it beside that
// median.
TEST(Report, ShowsBesideTheMediansWhatWasLost) {
  auto all = runs();
  for (RunInfo& run : all)
    if (run.key.strategy == "plb") {
      run.summary.classes[1].lost = {0, 10, 40, 0};
      run.summary.classes[1].p95.at_least = true;
      run.summary.waiting[1].lost = {0, 20, 0, 0};
    }
  const auto groups = groups_of(all);
  const auto rows = rows_table(groups[0]).rows();
  const auto column = [&](const std::string& name) {
    return static_cast<std::size_t>(std::find(rows[0].begin(), rows[0].end(), name) - rows[0].begin());
  };
  ASSERT_EQ(rows[2][2], "plb");
  EXPECT_EQ(rows[2].at(column("freemium lost")), "33.3%");
  EXPECT_EQ(rows[2].at(column("premium lost")), "0.99%");
  EXPECT_EQ(rows[2].at(column("freemium sessions lost")), "50%");
  EXPECT_EQ(rows[2].at(column("premium sessions lost")), "10%");
  EXPECT_TRUE(rows[2].at(column("freemium p95")).starts_with(">= "));
  EXPECT_FALSE(rows[2].at(column("freemium median")).starts_with(">= "));
  EXPECT_EQ(rows[2].at(column("premium wait")), ">= 0.5");
  for (const Finding& f : findings_of(groups[0], "round_robin")) {
    EXPECT_NEAR(f.lost, f.test.which == 1 ? 1.0 / 3 : 1.0 / 101, 1e-12);
    EXPECT_NEAR(f.baseline_lost, 1.0 / 101, 1e-12);
    EXPECT_NEAR(f.sessions_lost, f.test.which == 1 ? 0.5 : 0.1, 1e-12);
    EXPECT_NEAR(f.baseline_sessions_lost, f.test.which == 1 ? 0 : 0.1, 1e-12);
  }
  std::string said;
  for (const std::string& caution : cautions(groups[0]))
    said += caution;
  EXPECT_NE(said.find("60 were cut, 256 refused"), std::string::npos) << said;
  EXPECT_NE(said.find("131 measured sessions never asked anything, 131 of them"), std::string::npos) << said;
  const auto csv = runs_table(all).rows();
  const auto at = [&](std::size_t row, const std::string& name) {
    return csv[row].at(
        static_cast<std::size_t>(std::find(csv[0].begin(), csv[0].end(), name) - csv[0].begin()));
  };
  EXPECT_EQ(at(4, "class"), "freemium");
  EXPECT_EQ(at(4, "strategy"), "plb");
  EXPECT_EQ(at(4, "errors"), "50");
  EXPECT_EQ(at(4, "cut"), "10");
  EXPECT_EQ(at(4, "refused"), "40");
  EXPECT_EQ(at(4, "at_least"), "p95");
  EXPECT_EQ(at(3, "session_waiting_p95"), "2");
  EXPECT_EQ(at(3, "sessions_cut"), "1");
  EXPECT_EQ(at(3, "cpu_source"), "/proc");
}

// The change against a median that is a lower bound is one too, or none at all.
TEST(Report, SaysWhichSideOfAComparisonIsALowerBound) {
  const auto sides = [](bool own, bool baseline) {
    auto all = runs();
    for (RunInfo& run : all)
      if (run.key.repetition == 2)  // one run is enough
        run.summary.classes[1].median.at_least = run.key.strategy == "plb" ? own : baseline;
    const auto groups = groups_of(all);
    std::vector<std::string> said;
    for (const auto& rows : {findings_table(groups[0], findings_of(groups[0], "round_robin")).rows(),
                             findings_csv(groups, "round_robin").rows()}) {
      const auto column = [&](std::initializer_list<const char*> names) {
        return static_cast<std::size_t>(
            std::find_first_of(rows[0].begin(), rows[0].end(), names.begin(), names.end()) - rows[0].begin());
      };
      for (const auto& row : rows)
        if (row.at(column({"class"})) == "freemium")
          said.push_back(row.at(column({"value"})) + " " + row.at(column({"at least", "at_least"})));
    }
    return said;
  };
  using Said = std::vector<std::string>;
  EXPECT_EQ(sides(true, false), (Said{"median strategy", "p95 -", "median strategy", "p95 "}));
  EXPECT_EQ(sides(false, true), (Said{"median baseline", "p95 -", "median baseline", "p95 "}));
  EXPECT_EQ(sides(true, true), (Said{"median both", "p95 -", "median both", "p95 "}));
  EXPECT_EQ(sides(false, false), (Said{"median -", "p95 -", "median ", "p95 "}));
}

TEST(Report, SaysWhenUtilizationIsOfTheWholeMachine) {
  auto all = runs();
  EXPECT_FALSE(groups_of(all)[0].whole_machine);
  all[3].replicas[1].cores_source = kWholeMachine;
  const auto groups = groups_of(all);
  EXPECT_TRUE(groups[0].whole_machine);
  EXPECT_EQ(groups[0].cpu_sources.size(), 2U);
  const auto said = cautions(groups[0]);
  EXPECT_TRUE(std::any_of(said.begin(), said.end(),
                          [](const std::string& one) { return one.find("whole machine") != one.npos; }));
}

// Late sessions were not told, only late queries.
TEST(Report, SaysHowManyBeganLateAndByHowMuch) {
  auto all = runs();
  all[0].summary.late.worst = 1.5;
  const auto said = cautions(groups_of(all)[0]);
  EXPECT_TRUE(std::any_of(said.begin(), said.end(), [](const std::string& one) {
    return one.starts_with("33 sessions and 44 queries began more than 10 ms late, by 1.5 s at most");
  }));
  for (RunInfo& run : all)
    run.summary.late = {};
  const auto in_time = cautions(groups_of(all)[0]);
  EXPECT_TRUE(std::none_of(in_time.begin(), in_time.end(),
                           [](const std::string& one) { return one.find("late") != one.npos; }));
}

std::vector<std::string> mixes_charted(const std::vector<RunInfo>& all) {
  std::vector<std::string> titles;
  const report::Report page = page_of(groups_of(all), "round_robin", "", "");
  for (const report::Chart& chart : page.sections[0].charts)
    if (chart.title.starts_with("p95 of ")) titles.push_back(chart.title.substr(chart.title.rfind(' ') + 1));
  return titles;
}

// The shares at the edges had run at two loads, those between at three: the charts took the edges.
TEST(Report, ChartsTheMixesThatHaveAllLoads) {
  std::vector<RunInfo> all;
  for (const double share : {0.1, 0.3, 0.4, 0.55, 0.7, 0.9})
    for (const std::size_t terminals : {60, 240, 380})
      if (terminals != 60 || (share > 0.2 && share < 0.8))
        all.push_back(example_run("plb", terminals, share, 1, 1));
  EXPECT_EQ(mixes_charted(all), (std::vector<std::string>{"0.3", "0.55", "0.7"}));
  std::vector<RunInfo> few = {example_run("plb", 60, 0.5, 1, 1), example_run("plb", 60, 0.3, 1, 1)};
  EXPECT_TRUE(mixes_charted(few).empty());
}

}  // namespace
}  // namespace sluice::bench
