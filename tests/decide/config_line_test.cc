#include "decide/config_line.h"

#include <gtest/gtest.h>

#include "decide/event.h"
#include "decide/json_line.h"

namespace sluice::decide {
namespace {

TEST(ConfigLine, ReadsBackAsTheSameConfiguration) {
  policy::PoolConfig config;
  config.policy = policy::PolicyKind::Proportional;
  config.classes = {{"premium", 7, *Ratio::parse("0.29"), 0, 2, *Weight::parse("1.375")},
                    {"free \"mium\"", 10, *Ratio::parse("1"), 1, 1, Weight()}};
  config.replicas = {{"a", std::nullopt}, {"b", "premium", 3, 0}, {"c", "mixed", 1, 40}};
  config.seed = ~std::uint64_t{0};
  config.order = policy::ReplicaOrder::Nearest;
  config.nearest_slack = 9;
  const std::string line = config_line(config);
  EXPECT_EQ(line.find('\n'), line.npos);
  const JsonLine json = parse_json_line(line);
  ASSERT_EQ(json.problem, "");
  const ParsedEvent parsed = parse_event(json.value);
  ASSERT_EQ(parsed.problem, "") << line;
  const policy::PoolConfig& back = std::get<ConfigEvent>(parsed.event).config;
  EXPECT_EQ(config_line(back), line);
  EXPECT_EQ(back.classes[0].weight.to_string(), "1.375");
  EXPECT_EQ(back.classes[1].name, "free \"mium\"");
  EXPECT_EQ(back.replicas[1].weight, 3);
  EXPECT_EQ(back.replicas[1].pool, "premium");
  EXPECT_EQ(back.replicas[2].max_active, 40);
  EXPECT_EQ(back.seed, config.seed);
  EXPECT_EQ(back.order, config.order);
}

std::string problem_with(const std::string& weight, const std::string& replica) {
  return parse_event(
             parse_json_line(
                 R"({"op":"config","policy":"proportional","classes":[{"name":"a","saturation":1,"return_ratio":"1","floor":0,"target":1,"weight":)" +
                 weight + R"(}],"replicas":[)" + replica + "]}")
                 .value)
      .problem;
}

TEST(ConfigLine, AWeightIsANumberOrADecimalString) {
  for (const char* weight : {"2", "1.1", "0.5", "1e2", "\"1.25\"", "1000"})
    EXPECT_EQ(problem_with(weight, "\"r\""), "") << weight;
  for (const char* weight : {"0", "-1", "1.0005", "1001", "\"two\"", "\"\"", "null", "[]", "true", "1e9"})
    EXPECT_EQ(
        problem_with(weight, "\"r\""),
        "classes[0]: 'weight' must be a decimal from 0.001 to 1000 with at most three digits after the point")
        << weight;
}

TEST(ConfigLine, AReplicaIsANameOrAnObject) {
  EXPECT_EQ(problem_with("1", R"({"name":"r","weight":2,"max_active":5})"), "");
  EXPECT_EQ(problem_with("1", R"({"name":"r"})"), "");
  EXPECT_EQ(problem_with("1", R"({"name":"r","weight":0})"),
            "replicas[0]: 'weight' must be a whole number in 1..1000");
  EXPECT_EQ(problem_with("1", R"({"name":"r","max_active":-1})"),
            "replicas[0]: 'max_active' must be a whole number in 0..1000000000");
  EXPECT_EQ(problem_with("1", R"({"name":"r","port":1})"), "replicas[0]: unknown field \"port\"");
  EXPECT_EQ(problem_with("1", R"({})"), "replicas[0]: 'name' is missing");
  EXPECT_EQ(problem_with("1", "7"), "replicas[0]: must be a name or an object");
}

}  // namespace
}  // namespace sluice::decide
