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
  sums.add(query(0, 100, Phase::Measured, "57014"));
  const Summary s = sums.summary();
  EXPECT_EQ(s.classes[0].queries, 4U);
  EXPECT_EQ(s.classes[0].errors, 1U);
  EXPECT_DOUBLE_EQ(s.classes[0].mean, 2.5);
  EXPECT_DOUBLE_EQ(s.classes[0].median, 2.5);
  EXPECT_DOUBLE_EQ(s.classes[0].p95, 3.85);
  EXPECT_EQ(s.all.queries, 5U);
  EXPECT_EQ(s.all.errors, 1U);
  EXPECT_DOUBLE_EQ(s.all.median, 3);
}

TEST(Summary, OfNothingIsZero) {
  const Summary s = Summarizer().summary();
  EXPECT_EQ(s.all.queries, 0U);
  EXPECT_EQ(s.classes[1].median, 0);
  EXPECT_EQ(s.session_waiting_mean[0], 0);
}

TEST(Summary, CountsLateStartsAndFailedSessions) {
  Summarizer sums;
  QueryRecord late = query(0, 1, Phase::WarmUp);
  late.late = 0.5;
  sums.add(late);
  SessionRecord good, bad;
  good.waiting = 2;
  good.late = 0.009;
  bad.error = "53300";
  bad.late = 0.7;
  bad.waiting = 50;
  sums.add(good);
  sums.add(bad);
  const Summary s = sums.summary();
  EXPECT_EQ(s.late.queries, 1U);
  EXPECT_EQ(s.late.sessions, 1U);
  EXPECT_DOUBLE_EQ(s.late.worst, 0.7);
  EXPECT_EQ(s.sessions[0], 2U);
  EXPECT_EQ(s.sessions_failed[0], 1U);
  EXPECT_DOUBLE_EQ(s.session_waiting_mean[0], 2);
}

}  // namespace
}  // namespace sluice::bench
