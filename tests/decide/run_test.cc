#include "decide/run.h"

#include <gtest/gtest.h>

#include "tests/decide/drive.h"

namespace sluice::decide {
namespace {

std::string open(const std::string& id, const std::string& cls) {
  return R"({"op":"open","id":")" + id + R"(","class":")" + cls + "\"}";
}

std::string set(const std::string& replica, const std::string& rest) {
  return R"({"op":"set","replica":")" + replica + "\"," + rest + "}";
}

TEST(Decide, PrintsDecisionsAndTheStateInTheDocumentedForm) {
  const Driven d = drive({kFiveReplicas, set("r0", R"("pool":"premium","loads":{"premium":10})"),
                          set("r1", R"("pool":"premium","loads":{"premium":10,"freemium":1})"),
                          R"({"op":"open","id":"s1","class":"premium","host":"compute-a","size":0.02})"});
  EXPECT_EQ(d.error, "");
  ASSERT_EQ(d.lines.size(), 2u);
  EXPECT_EQ(d.lines[0], R"({"id":"s1","replica":"r4","outcome":"borrowed_mixed",)"
                        R"("changes":[{"replica":"r4","from":"mixed","to":"premium","kind":"borrow"}]})");
  EXPECT_EQ(
      d.lines[1],
      R"({"op":"state","replicas":[)"
      R"({"replica":"r0","pool":"premium","borrowed":false,"up":true,"loads":{"premium":10,"freemium":0}},)"
      R"({"replica":"r1","pool":"premium","borrowed":false,"up":true,"loads":{"premium":10,"freemium":1}},)"
      R"({"replica":"r2","pool":"freemium","borrowed":false,"up":true,"loads":{"premium":0,"freemium":0}},)"
      R"({"replica":"r3","pool":"freemium","borrowed":false,"up":true,"loads":{"premium":0,"freemium":0}},)"
      R"({"replica":"r4","pool":"premium","borrowed":true,"up":true,"loads":{"premium":1,"freemium":0}}]})");
}

TEST(Decide, GivesTheNearestReplicaWhereRoundTripsAreGiven) {
  const auto of_host = [](const std::string& id, const std::string& host) {
    return R"({"op":"open","id":")" + id + R"(","class":"a","host":")" + host + "\"}";
  };
  const Driven d = drive(
      {R"({"op":"config","policy":"plb","classes":[{"name":"a","saturation":5,"return_ratio":"1",)"
       R"("floor":0,"target":2}],"replicas":["x","y"],"order_within_pool":"nearest","nearest_slack":1,)"
       R"("rtt":{"near-y":{"x":0.5,"y":0.2}}})",
       of_host("1", "near-y"), of_host("2", "near-y"), of_host("3", "near-y"), of_host("4", "elsewhere")});
  EXPECT_EQ(d.error, "");
  std::string replicas;
  for (std::size_t i = 0; i < 4; ++i)
    replicas += d.lines.at(i).substr(d.lines.at(i).find("replica") + 10, 1);
  EXPECT_EQ(replicas, "yyxx");
}

TEST(Decide, GivesEachSizeItsReplicaOnceSizesAreKnown) {
  for (const std::string order : {"sita_e", "sita_v"}) {
    std::vector<std::string> events = {
        R"({"op":"config","policy":"plb","classes":[{"name":"a","saturation":500,"return_ratio":"1",)"
        R"("floor":0,"target":2}],"replicas":["x","y"],"order_within_pool":")" +
        order + "\"}"};
    for (int i = 0; i < 220; ++i)
      events.push_back(R"({"op":"open","id":")" + std::to_string(i) + R"(","class":"a","size":)" +
                       (i % 11 == 0 ? "0.1" : "0.01") + "}");
    const Driven d = drive(events);
    EXPECT_EQ(d.error, "");
    const auto replica_of = [&](std::size_t i) {
      return d.lines.at(i).substr(d.lines.at(i).find("replica") + 10, 1);
    };
    EXPECT_EQ(replica_of(0) + replica_of(1), "xy") << "by load at first";
    for (std::size_t i = 130; i < 220; ++i)
      EXPECT_EQ(replica_of(i), i % 11 == 0 ? "y" : "x") << order << " " << i;
  }
}

TEST(Decide, RefusesWithoutALiveReplicaAndCountsNothing) {
  const Driven d =
      drive({R"({"op":"config","policy":"plb","classes":[{"name":"a","saturation":1,"return_ratio":"1",)"
             R"("floor":0,"target":1}],"replicas":["x","y"]})",
             R"({"op":"down","replica":"x"})", R"({"op":"drain","replica":"y"})", open("s", "a"),
             R"({"op":"undrain","replica":"y"})", open("s", "a")});
  EXPECT_EQ(d.error, "");
  EXPECT_EQ(d.lines.at(0), R"({"id":"s","replica":null,"outcome":"refused","changes":[]})");
  EXPECT_EQ(d.lines.at(1), R"({"id":"s","replica":"y","outcome":"borrowed_mixed",)"
                           R"("changes":[{"replica":"y","from":"mixed","to":"a","kind":"borrow"}]})");
  EXPECT_NE(d.lines.at(2).find(R"("up":false,"loads":{"a":0})"), std::string::npos);
}

TEST(Decide, ClosesAnAnonymousSessionFirstAndThenTheOldest) {
  const std::string close = R"({"op":"close","class":"premium","replica":"r0"})";
  const Driven d = drive({kFiveReplicas, set("r0", R"("pool":"premium","loads":{"premium":1})"),
                          R"({"op":"down","replica":"r1"})", open("old", "premium"), open("new", "premium"),
                          close, close, R"({"op":"close","id":"new"})"});
  EXPECT_EQ(d.error, "");
  const Driven gone = drive({kFiveReplicas, R"({"op":"down","replica":"r1"})", open("old", "premium"),
                             open("new", "premium"), close, R"({"op":"close","id":"old"})"});
  EXPECT_EQ(gone.error, "line 6: no open session \"old\"\n");
}

TEST(Decide, TakesPoolsGivenOverTheTargets) {
  std::string config = kFiveReplicas;
  config.insert(config.size() - 1, R"(,"pools":{"premium":["r4"],"mixed":["r0"]})");
  const Driven d = drive({config, open("s", "premium")});
  EXPECT_EQ(d.error, "");
  EXPECT_EQ(d.lines.at(0), R"({"id":"s","replica":"r1","outcome":"own","changes":[]})");
  EXPECT_NE(d.lines.at(1).find(R"("replica":"r0","pool":"mixed")"), std::string::npos);
  EXPECT_NE(d.lines.at(1).find(R"("replica":"r4","pool":"premium")"), std::string::npos);
}

TEST(Decide, KeepsLoadsIdsAndMarksAcrossAReload) {
  const Driven d = drive(
      {kFiveReplicas, set("r2", R"("pool":"premium","borrowed":true,"loads":{"premium":1})"),
       R"({"op":"down","replica":"r0"})", open("s1", "premium"),  // r1
       R"({"op":"config","policy":"least_loaded","classes":[)"
       R"({"name":"premium","saturation":5,"return_ratio":"0.5","floor":0,"target":0}],"replicas":["r0","r2","r1"]})",
       R"({"op":"close","id":"s1"})", open("s1", "premium")});
  EXPECT_EQ(d.error, "");
  EXPECT_EQ(d.lines.at(1), R"({"id":"s1","replica":"r1","outcome":"own","changes":[]})");
  EXPECT_EQ(d.lines.at(2),
            R"({"op":"state","replicas":[)"
            R"({"replica":"r0","pool":"premium","borrowed":false,"up":false,"loads":{"premium":0}},)"
            R"({"replica":"r2","pool":"premium","borrowed":true,"up":true,"loads":{"premium":1}},)"
            R"({"replica":"r1","pool":"premium","borrowed":false,"up":true,"loads":{"premium":1}}]})");
}

TEST(Decide, ClosesSessionsOnAReplicaThatAReloadRemoved) {
  const std::string without_r0 =
      R"({"op":"config","policy":"plb","classes":[)"
      R"({"name":"premium","saturation":5,"return_ratio":"0.5","floor":0,"target":0}],)"
      R"("replicas":["r1"]})";
  const std::string close = R"({"op":"close","class":"premium","replica":"r0"})";
  EXPECT_EQ(drive({kFiveReplicas, open("s", "premium"), without_r0, close}).error, "");
  EXPECT_EQ(drive({kFiveReplicas, open("s", "premium"), without_r0, close, close}).error,
            "line 5: replica \"r0\" has no session of class \"premium\" to close\n");
  EXPECT_EQ(drive({kFiveReplicas, open("s", "premium"), without_r0, R"({"op":"down","replica":"r0"})"}).error,
            "line 4: unknown replica \"r0\"\n");
}

TEST(Decide, FlushesEachAnswerBeforeItReadsTheNextLine) {
  std::istringstream in(std::string(kFiveReplicas) + "\n" + open("s", "premium") + "\n");
  struct CountingBuffer : std::stringbuf {
    int sync() override { return ++flushes, std::stringbuf::sync(); }
    int flushes = 0;
  } buffer;
  std::ostream out(&buffer);
  std::ostringstream err;
  EXPECT_EQ(run(in, out, err), RunResult::Complete);
  EXPECT_EQ(buffer.flushes, 2);
}

TEST(Decide, SaysWhenItsOutputCannotBeWritten) {
  std::istringstream in(std::string(kFiveReplicas) + "\n" + open("s", "premium") + "\n");
  std::ostream out(nullptr);
  std::ostringstream err;
  EXPECT_EQ(run(in, out, err), RunResult::OutputFailed);
}

TEST(Decide, PassesOverBlankLinesAndTakesALastLineWithoutItsEnd) {
  std::istringstream in("\n \r\n" + std::string(kFiveReplicas) + "\r\n\n" + open("s", "nobody"));
  std::ostringstream out, err;
  EXPECT_EQ(run(in, out, err), RunResult::BadLine);
  EXPECT_EQ(err.str(), "line 5: unknown class \"nobody\"\n");
}

TEST(Decide, GivesAnEmptyStateForEmptyInput) {
  EXPECT_EQ(drive({}).lines, std::vector<std::string>{R"({"op":"state","replicas":[]})"});
}

TEST(Decide, RepeatsItselfForASeed) {
  std::string config = kFiveReplicas;
  config.replace(config.find("plb"), 3, "random_two_choices");
  const auto with_seed = [&](const std::string& seed) {
    std::vector<std::string> input = {config};
    input[0].insert(config.size() - 1, ",\"seed\":" + seed);
    for (int i = 0; i < 50; ++i)
      input.push_back(open(std::to_string(i), "premium"));
    return drive(input).lines;
  };
  EXPECT_EQ(with_seed("1"), with_seed("1"));
  EXPECT_NE(with_seed("1"), with_seed("18446744073709551615"));
}

}  // namespace
}  // namespace sluice::decide
