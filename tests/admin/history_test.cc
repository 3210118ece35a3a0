#include "admin/history.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "admin/dashboard_json.h"
#include "tests/admin/fake_router_view.h"

namespace sluice::admin::testing {
namespace {

using Json = nlohmann::json;
using std::chrono::seconds;

WallTime at(int seconds_since) {
  return WallTime(seconds(seconds_since));
}

Snapshot overview(std::int64_t opened, std::int64_t rejected, std::string pool = "premium") {
  Snapshot snapshot = FakeRouterView().snapshot;
  snapshot.classes[0].opened = opened;
  snapshot.rejections = {{"max_client_conn", rejected}, {"budget", 0}};
  snapshot.replicas[0].pool = std::move(pool);
  return snapshot;
}

TEST(History, CountsFromSampleToSample) {
  History history;
  history.add(at(0), overview(100, 7));
  history.add(at(10), overview(130, 7));
  history.add(at(20), overview(131, 10));
  ASSERT_EQ(history.samples().size(), 3U);
  EXPECT_EQ(history.samples()[0].classes[0].opened, 0);
  EXPECT_EQ(history.samples()[1].classes[0].opened, 30);
  EXPECT_EQ(history.samples()[2].classes[0].opened, 1);
  EXPECT_EQ(history.samples()[0].rejected, 0);
  EXPECT_EQ(history.samples()[1].rejected, 0);
  EXPECT_EQ(history.samples()[2].rejected, 3);
}

TEST(History, KeepsAnHour) {
  History history;
  for (int i = 0; i < 500; ++i)
    history.add(at(10 * i), overview(0, 0));
  EXPECT_EQ(history.samples().size(), History::kSamplesMax);
  EXPECT_EQ(history.samples().front().number, 500 - History::kSamplesMax + 1);
  EXPECT_EQ(history.samples().back().number, 500U);
}

TEST(History, KeepsWhereReplicasWereAsLongAsItsSamples) {
  History history;
  history.add(at(0), overview(0, 0));
  history.add(at(10), overview(0, 0));
  history.add(at(20), overview(0, 0, "mixed"));
  ASSERT_EQ(history.stays().at("r0").size(), 2U);
  EXPECT_EQ(history.stays().at("r0")[1].since, at(20));
  EXPECT_EQ(history.stays().at("r0")[1].pool, "mixed");
  for (int i = 3; i < 500; ++i)
    history.add(at(10 * i), overview(0, 0, "mixed"));
  EXPECT_EQ(history.stays().at("r0").size(), 1U);
  EXPECT_EQ(history.stays().at("r0")[0].pool, "mixed");
}

TEST(History, ForgetsReplicasThatAreGoneForAnHour) {
  History history;
  history.add(at(0), overview(0, 0));
  Snapshot without = overview(0, 0);
  without.replicas.clear();
  history.add(at(10), without);
  ASSERT_EQ(history.stays().at("r0").size(), 2U);
  EXPECT_EQ(history.stays().at("r0")[1].pool, "");
  for (int i = 2; i < 500; ++i)
    history.add(at(10 * i), without);
  EXPECT_TRUE(history.stays().empty());
}

TEST(History, IsBoundedWhateverReplicasDo) {
  History history;
  for (int i = 0; i < 1000; ++i)
    history.add(at(10 * i), overview(0, 0, i % 2 == 0 ? "mixed" : "premium"));
  EXPECT_LE(history.stays().at("r0").size(), History::kSamplesMax);
}

TEST(History, IsWrittenAsColumns) {
  History history;
  history.add(at(0), overview(0, 0));
  Snapshot more = overview(2, 1, "mixed");
  more.classes.push_back(more.classes[0]);
  more.classes[1].name = "late";
  history.add(at(10), more);
  const Json all = Json::parse(history_json(history, 100));
  EXPECT_EQ(all["times_ms"], Json({0, 10000}));
  EXPECT_EQ(all["newest"], 2);
  EXPECT_EQ(all["rejected"], Json({0, 1}));
  EXPECT_EQ(all["classes"][0]["opened"], Json({0, 2}));
  EXPECT_EQ(all["classes"][1]["name"], "late");
  EXPECT_EQ(all["classes"][1]["sessions"], Json({nullptr, 0}));
  EXPECT_EQ(all["replicas"][0]["stays"].size(), 2U);
  const Json newest = Json::parse(history_json(history, 1));
  EXPECT_EQ(newest["times_ms"], Json({10000}));
  EXPECT_EQ(newest["replicas"][0]["stays"].size(), 1U);
  EXPECT_EQ(newest["replicas"][0]["stays"][0]["pool"], "mixed");
}

TEST(RttMatrix, HasARowPerHostAndNullForWhatIsNotKnown) {
  std::vector<RttRow> rows(3);
  rows[0].host = rows[1].host = "a";
  rows[2].host = "b\xff";
  rows[0].server = rows[2].server = "r0";
  rows[1].server = "r1";
  rows[0].rtt = Micros(250);
  rows[0].source = "measured";
  const Json matrix = Json::parse(rtt_matrix_json(rows));
  EXPECT_EQ(matrix["hosts"], Json({"a", "b?"}));
  EXPECT_EQ(matrix["servers"], Json({"r0", "r1"}));
  EXPECT_EQ(matrix["rtt_us"], Json::parse("[[250, null], [null, null]]"));
  EXPECT_EQ(matrix["source"], Json::parse(R"([["measured", ""], ["", ""]])"));
}

}  // namespace
}  // namespace sluice::admin::testing
