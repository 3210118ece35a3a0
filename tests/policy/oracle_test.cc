#include "tests/policy/oracle.h"

#include <gtest/gtest.h>

#include "tests/policy/golden_plb.h"

namespace sluice::policy {
namespace {

// The oracle must itself agree with the cases worked by hand, or its agreement with the policy means nothing.
TEST(Oracle, AnswersTheGoldenCases) {
  for (const GoldenCase& c : golden_cases()) {
    Oracle oracle(c.config());
    for (std::size_t i = 0; i < c.state.size(); ++i) {
      Oracle::Replica& r = oracle.at("r" + std::to_string(i));
      r.pool = c.state[i].pool;
      r.borrowed = c.state[i].borrowed;
      r.up = c.state[i].up;
      r.loads = {{"premium", c.state[i].premium}, {"freemium", c.state[i].freemium}};
    }
    for (const GoldenStep& step : c.steps) {
      if (step.close) {
        oracle.close(step.replica, step.of);
        continue;
      }
      std::vector<std::string> changes;
      for (const GoldenChange& x : step.changes)
        changes.push_back(x.replica + ":" + x.from + ">" + x.to + " " + x.kind);
      const Oracle::Answer answer = oracle.open(step.of, {});
      EXPECT_EQ(answer.replica, step.replica) << c.id;
      EXPECT_EQ(answer.outcome, step.outcome) << c.id;
      EXPECT_EQ(answer.changes, changes) << c.id;
    }
  }
}

}  // namespace
}  // namespace sluice::policy
