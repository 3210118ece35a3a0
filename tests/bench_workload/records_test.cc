#include "bench/records.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace sluice::bench {
namespace {

TEST(Records, AreLinesOfCsvBelowTheirHeaders) {
  QueryRecord query;
  query.session = 3;
  query.host = "a,b";
  query.replica = "r0";
  query.query = "query_01";
  query.intended = 12.5;
  query.late = 0.001;
  query.waiting = 0.25;
  query.response = 0.75;
  query.rows = 10;
  EXPECT_EQ(line_of(query, "premium"),
            "3,premium,\"a,b\",r0,query_01,12.500000,0.001000,0.250000,0.750000,10,,measured\n");
  query.waiting.reset();
  query.error = "57014";
  query.phase = Phase::WarmUp;
  EXPECT_EQ(line_of(query, "say \"p\""),
            "3,\"say \"\"p\"\"\",\"a,b\",r0,query_01,12.500000,0.001000,,0.750000,10,57014,warm-up\n");
  SessionRecord session;
  session.session = 3;
  session.arrives = 1;
  session.lifetime = 20;
  session.ended = 22;
  session.queries = 5;
  session.error = "53300";
  EXPECT_EQ(line_of(session, "freemium"),
            "3,freemium,,,1.000000,0.000000,0.000000,20.000000,22.000000,5,0,53300,no,measured\n");
}

TEST(Records, SayByTheirErrorWhatBecameOfThem) {
  EXPECT_EQ(fate_of(""), Fate::Served);
  for (const char* error : {"timeout", "57014"})
    EXPECT_EQ(fate_of(error), Fate::TimedOut) << error;
  EXPECT_EQ(fate_of("cut"), Fate::Cut);
  for (const char* error : {"53300", "53400", "57P03"})
    EXPECT_EQ(fate_of(error), Fate::Refused) << error;
  for (const char* error : {"lost", "connect", "failed", "22012", "57P01", "53"})
    EXPECT_EQ(fate_of(error), Fate::Failed) << error;
}

// Such sessions stood as served, asked nothing and were in no median.
TEST(Records, ASessionWithoutTimeToAskIsCut) {
  SessionRecord session;
  connected(session, 13.999, 14);
  EXPECT_TRUE(session.served);
  EXPECT_EQ(session.error, "");
  for (const double moment : {14.0, 21.5}) {
    SessionRecord late;
    connected(late, moment, 14);
    EXPECT_FALSE(late.served) << moment;
    EXPECT_EQ(fate_of(late.error), Fate::Cut) << moment;
  }
}

TEST(Records, HaveAsManyCellsAsTheirHeaders) {
  const auto commas = [](const std::string& line) { return std::count(line.begin(), line.end(), ','); };
  EXPECT_EQ(commas(line_of(QueryRecord{}, "p")), commas(query_header()));
  EXPECT_EQ(commas(line_of(SessionRecord{}, "p")), commas(session_header()));
}

}  // namespace
}  // namespace sluice::bench
