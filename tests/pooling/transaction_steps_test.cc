#include "pooling/transaction_steps.h"

#include <string>

#include <gtest/gtest.h>

namespace sluice::pooling {
namespace {

std::string steps_in(std::string_view sql) {
  std::string out;
  const auto steps = transaction_steps(sql, Backslash::Literal);
  if (!steps) return "too many";
  for (const TransactionStep& step : *steps) {
    constexpr const char* kNames[] = {"commit", "rollback", "savepoint", "release", "to", "prepare"};
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
  EXPECT_EQ(steps_in("PREPARE TRANSACTION 'x'"), "prepare");
}

TEST(TransactionSteps, KeepsTheirOrderAmongOthers) {
  EXPECT_EQ(steps_in("select 'commit'; /* ; rollback */ savepoint a; -- release a\n rollback to a; commit"),
            "savepoint:a to:a commit");
}

TEST(TransactionSteps, LeavesOthersOut) {
  for (const char* const sql : {"", ";;", "begin", "select 1", "commit prepared 'x'", "rollback prepared 'x'",
                                "prepare x as select 1", "prepare", "savepoint", "rollback to", "release"})
    EXPECT_EQ(steps_in(sql), "") << sql;
}

// Was: the END of a function's body was taken for a COMMIT.
TEST(TransactionSteps, LeavesTheBodiesOfRoutinesOut) {
  for (const std::string head : {"create function f() returns int", "CREATE OR REPLACE PROCEDURE p(a int)"}) {
    const std::string body =
        head +
        " language sql begin atomic select case when a = 1 then 2 else 3 end; savepoint s; "
        "select 1; end";
    EXPECT_EQ(steps_in(body), "");
    EXPECT_EQ(steps_in(body + "; rollback to s; end"), "to:s commit");
  }
  EXPECT_EQ(steps_in("create function f() returns int as 'begin; end' language sql; commit"), "commit");
  EXPECT_EQ(steps_in("create table begin_atomic (a int); end"), "commit");
  EXPECT_EQ(steps_in("begin; end; begin"), "commit");
  EXPECT_EQ(steps_in("create function f() returns int begin atomic; select 1;"), "") << "it never ends";
}

TEST(TransactionSteps, AreAnsweredByTheirTags) {
  using Kind = TransactionStep::Kind;
  const auto kinds = [](std::string_view tag) {
    std::string all;
    for (const Kind kind :
         {Kind::Commit, Kind::Rollback, Kind::Savepoint, Kind::Release, Kind::RollbackTo, Kind::Prepare})
      all += answers(tag, kind) ? '1' : '0';
    return all;
  };
  EXPECT_EQ(kinds("COMMIT"), "100000");
  EXPECT_EQ(kinds("ROLLBACK"), "110011");
  EXPECT_EQ(kinds("SAVEPOINT"), "001000");
  EXPECT_EQ(kinds("RELEASE"), "000100");
  EXPECT_EQ(kinds("PREPARE TRANSACTION"), "000001");
  EXPECT_EQ(kinds("COMMIT PREPARED"), "000000");
  EXPECT_EQ(kinds("CREATE FUNCTION"), "000000");
}

// Was: those beyond the bound were left out.
TEST(TransactionSteps, SaysWhereThereAreTooMany) {
  std::string sql;
  for (std::size_t i = 0; i < kTransactionStepsMax; ++i)
    sql += "commit;";
  const auto all = transaction_steps(sql, Backslash::Literal);
  ASSERT_TRUE(all);
  EXPECT_EQ(all->size(), kTransactionStepsMax);
  EXPECT_EQ(steps_in(sql + "commit"), "too many");
}

}  // namespace
}  // namespace sluice::pooling
