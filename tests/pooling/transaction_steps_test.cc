#include "pooling/transaction_steps.h"

#include <string>

#include <gtest/gtest.h>

namespace sluice::pooling {
namespace {

std::string words(std::string_view sql) {
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
  EXPECT_EQ(words("COMMIT"), "commit");
  EXPECT_EQ(words("end transaction;"), "commit");
  EXPECT_EQ(words("commit and chain"), "commit");
  EXPECT_EQ(words("rollback"), "rollback");
  EXPECT_EQ(words("ABORT work"), "rollback");
  EXPECT_EQ(words("rollback and no chain"), "rollback");
  EXPECT_EQ(words("savepoint S"), "savepoint:s");
  EXPECT_EQ(words("savepoint \"S\""), "savepoint:S");
  EXPECT_EQ(words("release s"), "release:s");
  EXPECT_EQ(words("release savepoint s"), "release:s");
  EXPECT_EQ(words("release savepoint"), "release:savepoint") << "a name like any other";
  EXPECT_EQ(words("rollback to s"), "to:s");
  EXPECT_EQ(words("rollback work to savepoint s"), "to:s");
  EXPECT_EQ(words("abort transaction to s"), "to:s");
}

TEST(TransactionSteps, KeepsTheirOrderAmongOthers) {
  EXPECT_EQ(words("select 'commit'; /* ; rollback */ savepoint a; -- release a\n rollback to a; commit"),
            "savepoint:a to:a commit");
}

TEST(TransactionSteps, LeavesOthersOut) {
  for (const char* const sql : {"", ";;", "begin", "select 1", "commit prepared 'x'", "rollback prepared 'x'",
                                "prepare transaction 'x'", "savepoint", "rollback to", "release"})
    EXPECT_EQ(words(sql), "") << sql;
}

TEST(TransactionSteps, HasABound) {
  std::string sql;
  for (std::size_t i = 0; i < 2 * kTransactionStepsMax; ++i)
    sql += "commit;";
  EXPECT_EQ(transaction_steps(sql, Backslash::Literal).size(), kTransactionStepsMax);
}

}  // namespace
}  // namespace sluice::pooling
