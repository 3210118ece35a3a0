#include "bench/summary.h"

#include <gtest/gtest.h>

namespace sluice::bench {
namespace {

QueryRecord query(std::size_t class_index, double response, Phase phase = Phase::Measured,
                  const std::string& error = "") {
  QueryRecord record;
  record.class_index = class_index;
  record.response = response;
  record.phase = phase;
  record.error = error;
  return record;
}

TEST(Summary, TakesMeasuredQueriesThatEndedWell) {
  Summarizer sums;
  for (const double response : {4.0, 1.0, 3.0, 2.0})
    sums.add(query(0, response));
  sums.add(query(1, 10));
  sums.add(query(0, 100, Phase::WarmUp));
  sums.add(query(0, 100, Phase::WarmUp, "cut"));
  sums.add(query(0, 100, Phase::Measured, "22012"));
  const Summary s = sums.summary();
  EXPECT_EQ(s.classes[0].queries, 4U);
  EXPECT_EQ(s.classes[0].lost.failed, 1U);
  EXPECT_EQ(s.classes[0].lost.total(), 1U);
  EXPECT_DOUBLE_EQ(s.classes[0].lost_share(), 0.2);
  EXPECT_DOUBLE_EQ(s.classes[0].mean.seconds, 2.5);
  EXPECT_DOUBLE_EQ(s.classes[0].median.seconds, 2.5);
  EXPECT_DOUBLE_EQ(s.classes[0].p95.seconds, 3.85);
  EXPECT_FALSE(s.classes[0].p95.at_least);
  EXPECT_EQ(s.all.queries, 5U);
  EXPECT_EQ(s.all.lost.total(), 1U);
  EXPECT_DOUBLE_EQ(s.all.median.seconds, 3);
}

// Nine quick answers and one query that was given up: without it the p95 would be that of the quick ones.
TEST(Summary, CountsWhatWasGivenUpWithTheTimeThatItHadTaken) {
  for (const char* error : {"cut", "timeout", "57014"}) {
    Summarizer sums;
    for (int i = 0; i < 9; ++i)
      sums.add(query(0, 1));
    sums.add(query(0, 60, Phase::Measured, error));
    const ResponseSummary s = sums.summary().classes[0];
    EXPECT_EQ(s.queries, 9U);
    EXPECT_EQ(s.lost.given_up(), 1U) << error;
    EXPECT_EQ(s.samples(), 10U);
    EXPECT_DOUBLE_EQ(s.mean.seconds, 6.9);
    EXPECT_DOUBLE_EQ(s.median.seconds, 1);
    EXPECT_GT(s.p95.seconds, 30) << error;
    EXPECT_TRUE(s.mean.at_least);
    EXPECT_FALSE(s.median.at_least) << "wherever its true time is, it is above the median";
    EXPECT_TRUE(s.p95.at_least);
  }
}

TEST(Summary, SaysThatAQuantileAboveABoundIsALowerBound) {
  Summarizer sums;
  for (const double response : {1.0, 2.0, 3.0, 4.0})
    sums.add(query(0, response));
  sums.add(query(0, 0.5, Phase::Measured, "cut"));
  EXPECT_TRUE(sums.summary().classes[0].median.at_least) << "its true time may be above all others";
}

TEST(Summary, CountsRefusedQueriesAndGivesThemNoTime) {
  Summarizer sums;
  sums.add(query(0, 3));
  sums.add(query(0, 0.001, Phase::Measured, "53300"));
  sums.add(query(0, 0.001, Phase::Measured, "57P03"));
  sums.add(query(0, 0.001, Phase::Measured, "lost"));
  const ResponseSummary s = sums.summary().classes[0];
  EXPECT_EQ(s.lost.refused, 2U);
  EXPECT_EQ(s.lost.failed, 1U);
  EXPECT_DOUBLE_EQ(s.median.seconds, 3);
  EXPECT_FALSE(s.mean.at_least);
}

TEST(Summary, OfNothingIsZero) {
  const Summary s = Summarizer().summary();
  EXPECT_EQ(s.all.queries, 0U);
  EXPECT_EQ(s.all.lost_share(), 0);
  EXPECT_EQ(s.classes[1].median.seconds, 0);
  EXPECT_EQ(s.waiting[0].mean.seconds, 0);
}

TEST(Summary, CountsLateStartsAndFailedSessions) {
  Summarizer sums;
  QueryRecord late = query(0, 1, Phase::WarmUp);
  late.late = 0.5;
  sums.add(late);
  SessionRecord good, bad;
  good.served = true;
  good.late = 0.009;
  bad.error = "53300";
  bad.late = 0.7;
  sums.add(good);
  sums.add(bad);
  const Summary s = sums.summary();
  EXPECT_EQ(s.late.queries, 1U);
  EXPECT_EQ(s.late.sessions, 1U);
  EXPECT_DOUBLE_EQ(s.late.worst, 0.7);
  EXPECT_EQ(s.sessions[0], 2U);
  EXPECT_EQ(s.sessions_failed[0], 1U);
}

SessionRecord session(double waiting, const std::string& error, bool served) {
  SessionRecord record;
  record.waiting = waiting;
  record.error = error;
  record.served = served;
  return record;
}

TEST(Summary, CountsTheWaitingOfSessionsThatGaveUpWaiting) {
  Summarizer sums;
  sums.add(session(2, "", true));
  sums.add(session(4, "lost", true));  // it could ask, and broke later
  sums.add(session(60, "timeout", false));
  sums.add(session(30, "cut", false));
  sums.add(session(0.01, "53300", false));
  SessionRecord early = session(9, "", true);
  early.phase = Phase::WarmUp;
  sums.add(early);
  const Summary s = sums.summary();
  EXPECT_EQ(s.sessions[0], 6U) << "of the whole run";
  EXPECT_EQ(s.sessions_failed[0], 4U);
  const WaitingSummary& waiting = s.waiting[0];
  EXPECT_EQ(waiting.sessions, 2U) << "of the measured time";
  EXPECT_EQ(waiting.lost.timed_out, 1U);
  EXPECT_EQ(waiting.lost.cut, 1U);
  EXPECT_EQ(waiting.lost.refused, 1U);
  EXPECT_DOUBLE_EQ(waiting.mean.seconds, 24);
  EXPECT_TRUE(waiting.mean.at_least);
  EXPECT_DOUBLE_EQ(waiting.median.seconds, 17);
}

TEST(Summary, CountsSessionsThatHadNoTimeToAsk) {
  Summarizer sums;
  for (const double moment : {9.0, 10.0, 13.0}) {
    SessionRecord record = session(moment - 8, "", false);
    connected(record, moment, 10);
    sums.add(record);
  }
  const WaitingSummary waiting = sums.summary().waiting[0];
  EXPECT_EQ(waiting.sessions, 1U);
  EXPECT_EQ(waiting.lost.cut, 2U);
  EXPECT_DOUBLE_EQ(waiting.lost.share(waiting.sessions), 2.0 / 3);
  EXPECT_TRUE(waiting.mean.at_least);
}

}  // namespace
}  // namespace sluice::bench
