#include "bench/run_info.h"

#include <gtest/gtest.h>

#include "tests/bench_workload/example_run.h"

namespace sluice::bench {
namespace {

TEST(RunInfo, ComesBackFromJsonAsItWas) {
  RunInfo info = example_run("plb", 300, 0.5, 2, 0.1);
  info.key.mode = PoolMode::Transaction;
  info.key.ask_replica = AskReplica::PerQuery;
  info.key.think = "fixed:0.5";
  info.key.seed = 3;
  info.key.hosts = {"a", "b"};
  info.key.query_timeout = 5;
  info.key.connect_timeout = 6;
  info.key.drain = 7;
  info.summary.classes[1].lost = {1, 2, 3, 4};
  info.summary.classes[1].p99.at_least = true;
  info.abandoned = 5;
  info.abandoned_open = 2;
  info.class_names = {"gold", "say \"x\""};
  const std::string text = to_json(info);
  const auto parsed = parse_run_info(text, "run.json");
  ASSERT_TRUE(std::holds_alternative<RunInfo>(parsed)) << std::get<Problem>(parsed).text();
  const RunInfo& back = std::get<RunInfo>(parsed);
  EXPECT_EQ(back.key, info.key);
  EXPECT_EQ(to_json(back), text);
  EXPECT_EQ(back.summary.classes[1].lost.refused, 3U);
  EXPECT_TRUE(back.summary.classes[1].p99.at_least);
  EXPECT_FALSE(back.summary.classes[1].p95.at_least);
  EXPECT_TRUE(back.summary.waiting[0].mean.at_least);
  EXPECT_DOUBLE_EQ(back.summary.waiting[0].p95.seconds, 2);
  EXPECT_EQ(back.abandoned, 5U);
  EXPECT_EQ(back.abandoned_open, 2U);
  EXPECT_EQ(back.replicas[0].cores_source, "cores:N");
  EXPECT_DOUBLE_EQ(back.utilization(), 0.6);
  EXPECT_NEAR(back.utilization_cv(), 0.2 / 0.6, 1e-12);
}

TEST(RunInfo, HasNoUtilizationWithoutReplicas) {
  RunInfo info = example_run("plb", 300, 0.5, 2, 0.1);
  info.replicas.clear();
  EXPECT_FALSE(info.has_utilization());
  EXPECT_EQ(to_json(info).find("utilization"), std::string::npos);
}

TEST(RunInfo, NamesTheFolder) {
  EXPECT_EQ(folder_name(example_run("plb", 300, 0.5, 2, 1).key), "plb-5-300-0.5-2");
}

TEST(RunInfo, RefusesEveryTruncation) {
  const std::string text = to_json(example_run("plb", 300, 0.5, 2, 0.1));
  for (std::size_t size = 0; size + 2 < text.size(); size += 7) {
    const auto parsed = parse_run_info(std::string_view(text).substr(0, size), "x/run.json");
    ASSERT_TRUE(std::holds_alternative<Problem>(parsed)) << size;
    EXPECT_EQ(std::get<Problem>(parsed).text(), "x/run.json: this is no run.json of sluice bench");
  }
  const auto older = parse_run_info("{\"format\": 2}", "f");
  ASSERT_TRUE(std::holds_alternative<Problem>(older));
  EXPECT_NE(std::get<Problem>(older).message.find("another version"), std::string::npos);
  EXPECT_TRUE(std::holds_alternative<Problem>(parse_run_info("{\"format\": 3, \"run\": []}", "f")));
}

}  // namespace
}  // namespace sluice::bench
