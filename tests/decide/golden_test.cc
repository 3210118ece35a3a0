#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/decide/drive.h"
#include "tests/policy/golden_plb.h"

namespace sluice::decide {
namespace {

using nlohmann::json;
using policy::GoldenCase;
using policy::GoldenReplica;
using policy::GoldenStep;

std::string name_of(std::size_t replica) {
  return "r" + std::to_string(replica);
}

std::vector<std::string> input_of(const GoldenCase& c) {
  json config = {
      {"op", "config"}, {"policy", "plb"}, {"classes", json::array()}, {"replicas", json::array()}};
  for (const auto& p : c.classes)
    config["classes"].push_back({{"name", p.name},
                                 {"saturation", p.saturation},
                                 {"return_ratio", p.return_ratio.to_string()},
                                 {"floor", p.floor},
                                 {"target", p.target}});
  for (std::size_t i = 0; i < c.state.size(); ++i)
    config["replicas"].push_back(name_of(i));
  std::vector<std::string> lines = {config.dump()};
  for (std::size_t i = 0; i < c.state.size(); ++i) {
    const GoldenReplica& r = c.state[i];
    lines.push_back(json{{"op", "set"},
                         {"replica", name_of(i)},
                         {"pool", r.pool},
                         {"borrowed", r.borrowed},
                         {"loads", {{"premium", r.premium}, {"freemium", r.freemium}}}}
                        .dump());
    if (!r.up) lines.push_back(json{{"op", "down"}, {"replica", name_of(i)}}.dump());
  }
  for (std::size_t i = 0; i < c.steps.size(); ++i)
    lines.push_back(
        c.steps[i].close
            ? json{{"op", "close"}, {"class", c.steps[i].of}, {"replica", c.steps[i].replica}}.dump()
            : json{{"op", "open"}, {"id", std::to_string(i)}, {"class", c.steps[i].of}}.dump());
  return lines;
}

json answer_of(const GoldenStep& step, std::size_t index) {
  json changes = json::array();
  for (const auto& x : step.changes)
    changes.push_back({{"replica", x.replica}, {"from", x.from}, {"to", x.to}, {"kind", x.kind}});
  return {{"id", std::to_string(index)},
          {"replica", step.replica},
          {"outcome", step.outcome},
          {"changes", changes}};
}

json state_of(const std::vector<GoldenReplica>& replicas) {
  json rows = json::array();
  for (std::size_t i = 0; i < replicas.size(); ++i)
    rows.push_back({{"replica", name_of(i)},
                    {"pool", replicas[i].pool},
                    {"borrowed", replicas[i].borrowed},
                    {"up", replicas[i].up},
                    {"loads", {{"premium", replicas[i].premium}, {"freemium", replicas[i].freemium}}}});
  return {{"op", "state"}, {"replicas", rows}};
}

TEST(Decide, AnswersTheGoldenCases) {
  for (const GoldenCase& c : policy::golden_cases()) {
    SCOPED_TRACE(c.id);
    const Driven driven = drive(input_of(c));
    ASSERT_EQ(driven.error, "");
    ASSERT_EQ(driven.result, RunResult::Complete);
    std::size_t line = 0;
    for (std::size_t i = 0; i < c.steps.size(); ++i)
      if (!c.steps[i].close) {
        EXPECT_EQ(json::parse(driven.lines.at(line++)), answer_of(c.steps[i], i));
      }
    ASSERT_EQ(driven.lines.size(), line + 1);
    if (!c.final.empty()) {
      EXPECT_EQ(json::parse(driven.lines.back()), state_of(c.final));
    }
  }
}

}  // namespace
}  // namespace sluice::decide
