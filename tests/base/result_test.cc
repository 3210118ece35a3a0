#include "base/result.h"

#include <memory>

#include <gtest/gtest.h>

#include "base/error.h"

namespace sluice {
namespace {

Result<int> half(int n) {
  if (n % 2 != 0) return BaseErrc::NotFound;
  return n / 2;
}

TEST(Result, HoldsAValueOrAnError) {
  EXPECT_EQ(*half(4), 2);
  const Result<int> odd = half(3);
  ASSERT_FALSE(odd);
  EXPECT_EQ(odd.error().code, BaseErrc::NotFound);
  EXPECT_EQ(odd.error().side, Side::Internal);
}

TEST(Result, GivesUpAMoveOnlyValue) {
  Result<std::unique_ptr<int>> r(std::make_unique<int>(5));
  const std::unique_ptr<int> taken = *std::move(r);
  EXPECT_EQ(*taken, 5);
}

TEST(ResultDeathTest, EndsTheProgramWhenTheErrorOfAValueIsRead) {
  EXPECT_DEATH((void)half(2).error(), "internal error");
}

}  // namespace
}  // namespace sluice
