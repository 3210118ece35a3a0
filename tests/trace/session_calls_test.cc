#include "trace/session_calls.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/trace/traced_session.h"

namespace sluice::trace::test {
namespace {

using Traces = std::vector<std::uint64_t>;

class SessionCallsTest : public testing::Test {
 protected:
  Traces traces() const {
    Traces out;
    for (const TracedSession::Seen& call : session.calls)
      out.push_back(call.trace);
    return out;
  }
  TracedSession session;
};

TEST_F(SessionCallsTest, ACommentedQueryIsACallOfItsTrace) {
  session.query("SELECT 1" + comment("/feed", 7), 10);
  session.answer('C', 14);
  session.ready(15);
  ASSERT_EQ(traces(), Traces{7});
  EXPECT_EQ(session.calls[0].route, "/feed");
  EXPECT_EQ(session.calls[0].begin, at(10));
  EXPECT_EQ(session.calls[0].end, at(15));
  EXPECT_FALSE(session.calls[0].failed);
}

TEST_F(SessionCallsTest, ABatchIsOneCallFromItsFirstByteToItsReadyForQuery) {
  session.parse("", "SELECT $1" + comment("/feed", 7), 10);
  session.bind("", 11);
  session.execute(12);
  session.sync(13);
  for (const char type : {'1', '2', 'C'})
    session.answer(type, 20);
  session.ready(21);
  ASSERT_EQ(traces(), Traces{7});
  EXPECT_EQ(session.calls[0].begin, at(10));
  EXPECT_EQ(session.calls[0].end, at(21));
}

TEST_F(SessionCallsTest, UncommentedCallsOutsideOfATransactionAreNobodys) {
  session.simple("SELECT 1", 0);
  session.simple("SELECT 1" + comment("/feed", 7), 10);
  session.simple("SELECT 1", 20);
  session.extended("s", "SELECT 1", 30);
  EXPECT_EQ(traces(), Traces{7});
}

TEST_F(SessionCallsTest, UncommentedCallsInACommentedTransactionJoinItsTrace) {
  session.simple("BEGIN" + comment("/feed", 7), 0, 'T');
  session.simple("SELECT 1", 10, 'T');
  session.extended("s", "SELECT 2", 20);
  EXPECT_EQ(traces(), (Traces{7, 7, 7}));
}

TEST_F(SessionCallsTest, WhatATransactionDidBeforeItsFirstCommentJoinsToo) {
  session.simple("BEGIN", 0, 'T');
  session.simple("SET LOCAL x = 1", 2, 'T');
  session.simple("SELECT 1" + comment("/feed", 7), 10, 'T');
  session.simple("COMMIT", 20);
  ASSERT_EQ(traces(), (Traces{7, 7, 7, 7}));
  EXPECT_EQ(session.calls[0].begin, at(0));
  EXPECT_EQ(session.calls[0].end, at(1));
  session.simple("SELECT 1", 30);
  EXPECT_EQ(session.calls.size(), 4U);
}

TEST_F(SessionCallsTest, ATransactionWithoutACommentLeavesNothingToTheNext) {
  session.simple("BEGIN", 0, 'T');
  session.simple("COMMIT", 2);
  session.simple("SELECT 1" + comment("/feed", 7), 10);
  session.simple("BEGIN", 20, 'T');
  session.simple("COMMIT", 22);
  session.simple("SELECT 1" + comment("/feed", 8), 30);
  EXPECT_EQ(traces(), (Traces{7, 8}));
}

TEST_F(SessionCallsTest, AFailedTransactionIsATransaction) {
  session.simple("BEGIN" + comment("/feed", 7), 0, 'T');
  session.query("SELECT 1/0", 10);
  session.answer('E', 11);
  session.ready(11, 'E');
  session.simple("ROLLBACK", 20);
  ASSERT_EQ(traces(), (Traces{7, 7, 7}));
  EXPECT_FALSE(session.calls[0].failed);
  EXPECT_TRUE(session.calls[1].failed);
  EXPECT_FALSE(session.calls[2].failed);
}

TEST_F(SessionCallsTest, PreparingAndExecutingIsOneRequest) {
  session.parse("s", "SELECT 1" + comment("/feed", 7), 0);
  session.sync(0);
  session.answer('1', 1);
  session.ready(1);
  for (int i = 1; i <= 10; ++i)
    session.execute_named("s", 10 * i);
  EXPECT_EQ(traces(), Traces(11, 7));
}

TEST_F(SessionCallsTest, ExecutingAStatementOfAnotherTraceIsUntraced) {
  session.extended("s", "SELECT 1" + comment("/feed", 7), 0);
  session.simple("SELECT 1" + comment("/list", 8), 10);
  session.execute_named("s", 20);
  ASSERT_EQ(traces(), (Traces{7, 8, 0}));
  EXPECT_EQ(session.calls[2].route, "/feed");
}

TEST_F(SessionCallsTest, ExecutingAnOldStatementIsUntracedThoughNoOtherTraceCameByMeanwhile) {
  session.extended("s", "SELECT 1" + comment("/feed", 7), 0);
  session.execute_named("s", 4999);
  session.execute_named("s", 5001);
  EXPECT_EQ(traces(), (Traces{7, 7, 0}));
}

TEST_F(SessionCallsTest, AStatementOfAnotherTraceIsUntracedInATransactionAndCountsForItsRoute) {
  session.extended("s", "SELECT 1" + comment("/feed", 7), 0);
  session.simple("BEGIN" + comment("/list", 8), 10, 'T');
  session.execute_named("s", 20, 0, 'T');
  session.simple("COMMIT", 30);
  ASSERT_EQ(traces(), (Traces{7, 8, 0, 8}));
  EXPECT_EQ(session.calls[2].route, "/list");
}

TEST_F(SessionCallsTest, ATransactionIsOfTheRequestWhoseStatementItExecutes) {
  session.extended("s", "SELECT 1" + comment("/feed", 7), 0);
  session.simple("BEGIN", 10, 'T');
  session.execute_named("s", 20, 0, 'T');
  session.simple("COMMIT", 30);
  EXPECT_EQ(traces(), (Traces{7, 7, 7, 7}));
}

TEST_F(SessionCallsTest, AStatementParsedWithoutACommentJoinsTheTransaction) {
  session.simple("SELECT 1" + comment("/feed", 6), 0);
  session.extended("s", "SELECT 1", 5);
  session.simple("BEGIN" + comment("/list", 8), 10, 'T');
  session.execute_named("s", 20);
  EXPECT_EQ(traces(), (Traces{6, 8, 8}));
}

TEST_F(SessionCallsTest, AStatementIsForgottenWhenItIsClosedOrParsedAnew) {
  session.extended("s", "SELECT 1" + comment("/feed", 7), 0);
  session.simple("SELECT 1" + comment("/list", 8), 10);
  session.close("s", 20);
  session.sync(20);
  session.answer('3', 21);
  session.ready(21);
  session.execute_named("s", 30);
  EXPECT_EQ(traces(), (Traces{7, 8}));
  session.extended("t", "SELECT 1" + comment("/feed", 7), 40);
  session.extended("t", "SELECT 1" + comment("/feed", 9), 50);
  session.execute_named("t", 60);
  EXPECT_EQ(traces(), (Traces{7, 8, 7, 9, 9}));
  session.extended("t", "SELECT 1", 70);
  session.execute_named("t", 80);
  EXPECT_EQ(session.calls.size(), 5U);
}

TEST_F(SessionCallsTest, TheUnnamedStatementIsOneAsWellUntilAQuery) {
  session.extended("", "SELECT 1" + comment("/feed", 7), 0);
  session.execute_named("", 10);
  EXPECT_EQ(traces(), (Traces{7, 7}));
  session.simple("SELECT 1", 20);
  session.execute_named("", 30);
  EXPECT_EQ(session.calls.size(), 2U);
}

TEST_F(SessionCallsTest, ARouteWithoutATraceIsUntraced) {
  session.simple("SELECT 1 /*route='/feed'*/", 0);
  session.extended("s", "SELECT 1 /*route='/list'*/", 10);
  session.execute_named("s", 20);
  ASSERT_EQ(traces(), (Traces{0, 0, 0}));
  EXPECT_EQ(session.calls[2].route, "/list");
  session.simple("BEGIN" + comment("/feed", 7), 30, 'T');
  session.simple("SELECT 1 /*route='/feed'*/", 40, 'T');
  session.execute_named("s", 50, 0, 'T');
  session.simple("COMMIT", 60);
  EXPECT_EQ(traces(), (Traces{0, 0, 0, 7, 7, 7, 7}));
}

TEST_F(SessionCallsTest, ATraceWithoutARouteGoesWithTheRouteSeenLastOfIt) {
  std::string no_route = comment("", 7);
  session.simple("SELECT 1" + no_route, 0);
  EXPECT_TRUE(session.calls.empty());
  session.simple("SELECT 1" + comment("/feed", 7), 10);
  session.simple("SELECT 1" + no_route, 20);
  ASSERT_EQ(traces(), (Traces{7, 7}));
  EXPECT_EQ(session.calls[1].route, "/feed");
}

TEST_F(SessionCallsTest, PipelinedCallsOverlap) {
  session.query("SELECT 1" + comment("/feed", 7), 0);
  session.query("SELECT 2" + comment("/feed", 7), 1);
  session.answer('C', 10);
  session.ready(10);
  session.answer('C', 20);
  session.ready(20);
  ASSERT_EQ(traces(), (Traces{7, 7}));
  EXPECT_EQ(session.calls[1].begin, at(1));
  EXPECT_EQ(session.calls[1].end, at(20));
}

TEST_F(SessionCallsTest, CopyIsOneCallThoughItSwallowsASync) {
  session.parse("", "COPY t FROM STDIN" + comment("/load", 7), 0);
  session.bind("", 0);
  session.execute(0);
  session.sync(0);
  session.answer('1', 1);
  session.answer('2', 1);
  session.answer('G', 1);
  session.send('d', as_bytes("1\n"), 2);
  session.send('c', {}, 3);
  session.sync(3);
  session.answer('C', 4);
  session.ready(4);
  ASSERT_EQ(traces(), Traces{7});
  EXPECT_EQ(session.calls[0].end, at(4));
  session.simple("SELECT 1" + comment("/load", 8), 10);
  ASSERT_EQ(traces(), (Traces{7, 8}));
  EXPECT_EQ(session.calls[1].end, at(11));
  EXPECT_EQ(session.calls_of.pending_count(), 0U);
}

TEST_F(SessionCallsTest, IsTheSameInWhateverPiecesMessagesArrive) {
  for (const std::size_t piece : {1U, 2U, 5U, 17U, 100U}) {
    TracedSession cut;
    cut.piece = piece;
    cut.extended("s", "/* x */ SELECT '" + std::string(10'000, 'x') + "'" + comment("/feed", 7), 0);
    cut.simple("SELECT '" + std::string(9'000, 'y') + "'" + comment("/list", 8) + ";", 10);
    cut.execute_named("s", 20);
    cut.close("s", 30);
    cut.sync(30);
    cut.answer('3', 31);
    cut.ready(31);
    cut.execute_named("s", 40);
    ASSERT_EQ(cut.calls.size(), 3U) << piece;
    EXPECT_EQ(cut.calls[0].trace, 7U);
    EXPECT_EQ(cut.calls[1].trace, 8U);
    EXPECT_EQ(cut.calls[2].trace, 0U);
  }
}

TEST_F(SessionCallsTest, ASessionWithoutCommentsKeepsNothing) {
  for (int i = 0; i < 1000; ++i) {
    session.extended("s" + std::to_string(i), "SELECT 1", i);
    session.simple("SELECT 1 /* a comment, though none of ours */", i);
  }
  EXPECT_TRUE(session.calls.empty());
  EXPECT_EQ(session.calls_of.statement_count(), 0U);
  EXPECT_EQ(session.calls_of.pending_count(), 0U);
}

TEST_F(SessionCallsTest, WhatItKeepsIsBounded) {
  for (int i = 0; i < 10'000; ++i)
    session.parse("s" + std::to_string(i), "SELECT 1" + comment("/feed", 7), i);
  EXPECT_EQ(session.calls_of.statement_count(), SessionCalls::kStatementsMax);
  for (int i = 0; i < 10'000; ++i)
    session.sync(i);
  EXPECT_EQ(session.calls_of.pending_count(), SessionCalls::kPendingMax);
  session.send('B', as_bytes(std::string(100'000, 'p')), 0);
}

}  // namespace
}  // namespace sluice::trace::test
