#include "pooling/transaction_steps.h"

#include <string>

#include <gtest/gtest.h>

namespace sluice::pooling {
namespace {

std::string steps_in(std::string_view sql) {
  std::string out;
  for (const TransactionStep& step : transaction_steps(sql, Backslash::Literal)) {
    constexpr const char* kNames[] = {"commit", "rollback", "savepoint", "release", "to"};
    out += out.empty() ? "" : " ";
    out += kNames[static_cast<int>(step.kind)];
    if (!step.name.empty()) out += ':' + step.name;
  }
  return out;
}

TEST(TransactionSteps, KnowsEachSpelling) {
  EXPECT_EQ(steps_in("COMMIT"), "commit");
  EXPECT_EQ(steps_in("end transaction;"), "commit");
  EXPECT_EQ(steps_in("commit and chain"), "commit");
  EXPECT_EQ(steps_in("rollback"), "rollback");
  EXPECT_EQ(steps_in("ABORT work"), "rollback");
  EXPECT_EQ(steps_in("rollback and no chain"), "rollback");
  EXPECT_EQ(steps_in("savepoint S"), "savepoint:s");
  EXPECT_EQ(steps_in("savepoint \"S\""), "savepoint:S");
  EXPECT_EQ(steps_in("release s"), "release:s");
  EXPECT_EQ(steps_in("release savepoint s"), "release:s");
  EXPECT_EQ(steps_in("release savepoint"), "release:savepoint") << "a name like any other";
  EXPECT_EQ(steps_in("rollback to s"), "to:s");
  EXPECT_EQ(steps_in("rollback work to savepoint s"), "to:s");
  EXPECT_EQ(steps_in("abort transaction to s"), "to:s");
}

TEST(TransactionSteps, KeepsTheirOrderAmongOthers) {
  EXPECT_EQ(steps_in("select 'commit'; /* ; rollback */ savepoint a; -- release a\n rollback to a; commit"),
            "savepoint:a to:a commit");
}

TEST(TransactionSteps, LeavesOthersOut) {
  for (const char* const sql : {"", ";;", "begin", "select 1", "commit prepared 'x'", "rollback prepared 'x'",
                                "prepare transaction 'x'", "savepoint", "rollback to", "release"})
    EXPECT_EQ(steps_in(sql), "") << sql;
}

TEST(TransactionSteps, HasABound) {
  std::string sql;
  for (std::size_t i = 0; i < 2 * kTransactionStepsMax; ++i)
    sql += "commit;";
  EXPECT_EQ(transaction_steps(sql, Backslash::Literal).size(), kTransactionStepsMax);
}

}  // namespace
}  // namespace sluice::pooling
