#include "sluice/policy/pool_config.h"

#include <functional>

#include <gtest/gtest.h>

namespace sluice::policy {
namespace {

PoolConfig two_classes() {
  PoolConfig config;
  config.classes = {{"premium", 10, *Ratio::parse("0.60"), 0, 2},
                    {"freemium", 10, *Ratio::parse("0.80"), 1, 2}};
  for (const char* name : {"r0", "r1", "r2", "r3", "r4"})
    config.replicas.push_back({name, std::nullopt});
  return config;
}

std::string problem_after(const std::function<void(PoolConfig&)>& change) {
  PoolConfig config = two_classes();
  change(config);
  return problem_of(config).value_or("");
}

TEST(PoolConfig, TakesTwoClassesOverFiveReplicas) {
  EXPECT_EQ(problem_of(two_classes()), std::nullopt);
}

TEST(PoolConfig, NamesWhatIsWrong) {
  EXPECT_EQ(problem_after([](auto& c) { c.classes.clear(); }), "there is no class");
  // Where replicas are found by others there may be none for a while.
  EXPECT_EQ(problem_after([](auto& c) { c.replicas.clear(); }), "");
  EXPECT_EQ(problem_after([](auto& c) { c.classes[1].name = "premium"; }), "class 'premium' is there twice");
  EXPECT_EQ(problem_after([](auto& c) { c.classes[1].name = ""; }), "a class has no name");
  EXPECT_EQ(problem_after([](auto& c) { c.classes[0].name = "mixed"; }),
            "a class is called 'mixed', which is the name of the shared pool");
  EXPECT_EQ(problem_after([](auto& c) { c.replicas[3].name = "r1"; }), "replica 'r1' is there twice");
  EXPECT_EQ(problem_after([](auto& c) { c.classes[0].floor = 1; }),
            "class 'premium': floor must be 0, as no class is above it to borrow from it");
  EXPECT_EQ(problem_after([](auto& c) { c.classes[1].saturation = 0; }),
            "class 'freemium': saturation 0 is not in 1..1000000000");
  EXPECT_EQ(problem_after([](auto& c) { c.classes[1].target = -1; }),
            "class 'freemium': target -1 is not in 0..1000000000");
  EXPECT_EQ(problem_after([](auto& c) { c.classes.resize(65); }), "there are more than 64 classes");
  EXPECT_EQ(problem_after([](auto& c) { c.replicas[0].pool = "gold"; }),
            "replica 'r0': pool 'gold' is neither a class nor 'mixed'");
}

TEST(PolicyKind, IsReadByTheNameItPrints) {
  for (const auto kind : {PolicyKind::Plb, PolicyKind::RoundRobin, PolicyKind::LeastLoaded,
                          PolicyKind::Dedicated, PolicyKind::RandomTwoChoices, PolicyKind::Proportional})
    EXPECT_EQ(parse_policy(policy_name(kind)), kind);
  EXPECT_EQ(parse_policy("PLB"), std::nullopt);
}

}  // namespace
}  // namespace sluice::policy
