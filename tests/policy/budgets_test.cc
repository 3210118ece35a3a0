#include "sluice/policy/budgets.h"

#include <cmath>

#include <gtest/gtest.h>

namespace sluice::policy {
namespace {

using namespace std::chrono_literals;

BudgetParams params(std::string name, BudgetMode mode, std::string_view active, std::string_view busy) {
  return {std::move(name), mode, *Ratio::parse(active), *Ratio::parse(busy)};
}

TEST(Budgets, LimitTheShareOfSlotsTakenAndWaitedFor) {
  Budgets budgets;
  const std::vector<BudgetParams> configured = {params("half", BudgetMode::Enforce, "0.5", "0")};
  budgets.reconfigure(configured, 10s);
  const BudgetId half = *budgets.find("half");
  for (int i = 0; i < 4; ++i) {
    EXPECT_FALSE(budgets.beyond(half, 10, 0s)) << i;
    budgets.change_active(half, 1, 0s);
  }
  budgets.change_waiting(half, 1);
  EXPECT_TRUE(budgets.beyond(half, 10, 0s));
  EXPECT_FALSE(budgets.beyond(half, 12, 0s));
  EXPECT_FALSE(budgets.beyond(half, 0, 0s)) << "slots that are not limited have no shares";
  budgets.change_waiting(half, -1);
  budgets.change_active(half, -1, 0s);
  EXPECT_FALSE(budgets.beyond(half, 10, 0s));
}

TEST(Budgets, LeaveEveryoneOneSlot) {
  Budgets budgets;
  const std::vector<BudgetParams> configured = {params("tiny", BudgetMode::Enforce, "0.01", "0")};
  budgets.reconfigure(configured, 10s);
  EXPECT_FALSE(budgets.beyond(BudgetId(0), 10, 0s));
  budgets.change_active(BudgetId(0), 1, 0s);
  EXPECT_TRUE(budgets.beyond(BudgetId(0), 10, 0s));
}

TEST(Budgets, AverageTheSlotsTakenOverTheWindow) {
  Budgets budgets;
  const std::vector<BudgetParams> configured = {params("quarter", BudgetMode::Warn, "0", "0.25")};
  budgets.reconfigure(configured, 10s);
  const BudgetId quarter(0);
  for (int i = 0; i < 4; ++i)
    budgets.change_active(quarter, 1, 100s);
  EXPECT_NEAR(budgets.states(100s)[0].busy, 0, 1e-9);
  EXPECT_NEAR(budgets.states(110s)[0].busy, 4 * (1 - std::exp(-1.0)), 1e-9);
  // 4 slots of 10: beyond a quarter once the average has passed 2.5, after 10 ln(4 / 1.5) seconds.
  EXPECT_FALSE(budgets.beyond(quarter, 10, 109'800ms));
  EXPECT_TRUE(budgets.beyond(quarter, 10, 109'810ms));
  for (int i = 0; i < 4; ++i)
    budgets.change_active(quarter, -1, 110s);
  EXPECT_FALSE(budgets.beyond(quarter, 10, 111s)) << "and comes down again";
  EXPECT_NEAR(budgets.states(120s)[0].busy, 4 * (1 - std::exp(-1.0)) * std::exp(-1.0), 1e-9);
}

TEST(Budgets, KeepCountsAndIdsAcrossReloads) {
  Budgets budgets;
  std::vector<BudgetParams> configured = {params("a", BudgetMode::Enforce, "0.1", "0"),
                                          params("b", BudgetMode::Warn, "0.1", "0")};
  budgets.reconfigure(configured, 10s);
  budgets.change_active(BudgetId(0), 1, 0s);
  budgets.count_refusal(BudgetId(0));
  budgets.count_refusal(BudgetId(1));
  configured.erase(configured.begin());
  budgets.reconfigure(configured, 10s);
  EXPECT_EQ(budgets.mode(BudgetId(0)), BudgetMode::Off);
  EXPECT_FALSE(budgets.beyond(BudgetId(0), 10, 0s));
  configured.push_back(params("a", BudgetMode::Enforce, "0.1", "0"));
  budgets.reconfigure(configured, 10s);
  EXPECT_EQ(budgets.find("a"), BudgetId(0));
  const auto states = budgets.states(0s);
  EXPECT_EQ(states[0].active, 1);
  EXPECT_EQ(states[0].refused, 1U);
  EXPECT_EQ(states[1].would_be_refused, 1U);
  EXPECT_EQ(budgets.find("c"), std::nullopt);
}

}  // namespace
}  // namespace sluice::policy
