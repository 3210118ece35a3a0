#include "cluster/patroni.h"

#include <gtest/gtest.h>

#include "base/utf8.h"

namespace sluice::cluster {
namespace {

ClusterView parsed(const std::string& json) {
  std::string problem;
  const auto view = parse_cluster(json, problem);
  EXPECT_TRUE(view) << problem;
  return view.value_or(ClusterView{});
}

std::string problem_of(const std::string& json) {
  std::string problem;
  EXPECT_FALSE(parse_cluster(json, problem)) << json;
  return problem;
}

std::string members(const std::string& list) {
  return R"({"scope": "c", "members": [)" + list + "]}";
}

// As Patroni 3.0.2 answers.
const std::string kThree = members(
    R"({"name": "n2", "role": "replica", "state": "running", "api_url": "http://127.0.0.1:8009/patroni",
        "host": "127.0.0.1", "port": 5434, "timeline": 7, "lag": 16384,
        "tags": {"noloadbalance": true, "clonefrom": true, "sluice_pool": "premium", "sluice_weight": 3}},
       {"name": "n1", "role": "leader", "state": "running", "host": "10.0.0.1", "port": 5433, "timeline": 7},
       {"name": "n3", "role": "sync_standby", "state": "starting", "host": "::1", "port": 5435, "lag": "unknown"})");

TEST(Patroni, ReadsMembersInTheOrderOfTheirNames) {
  const ClusterView view = parsed(kThree);
  ASSERT_EQ(view.members.size(), 3U);
  const Member& leader = view.members[0];
  EXPECT_EQ(leader.name, "n1");
  EXPECT_EQ(leader.host, "10.0.0.1");
  EXPECT_EQ(leader.port, 5433);
  EXPECT_EQ(leader.timeline, 7U);
  EXPECT_EQ(leader.bar(), DownReason::Leader);
  const Member& tagged = view.members[1];
  EXPECT_EQ(tagged.lag_bytes, 16384U);
  EXPECT_TRUE(tagged.noloadbalance);
  EXPECT_EQ(tagged.pool, "premium");
  EXPECT_EQ(tagged.weight, 3U);
  EXPECT_NE(tagged.tags.find("clonefrom=true"), std::string::npos);
  EXPECT_EQ(tagged.bar(), DownReason::NoLoadBalance);
  const Member& starting = view.members[2];
  EXPECT_FALSE(starting.lag_bytes);
  EXPECT_EQ(starting.role, MemberRole::Replica);
  EXPECT_EQ(starting.bar(), DownReason::NotRunning);
  ASSERT_NE(view.leader(), nullptr);
  EXPECT_EQ(view.leader()->name, "n1");
  EXPECT_EQ(view.find("n3"), &view.members[2]);
  EXPECT_EQ(view.find("n4"), nullptr);
}

TEST(Patroni, KnowsTheWordsOfItsVersions) {
  for (const char* const word : {"leader", "master", "primary"})
    EXPECT_NE(
        parsed(members(R"({"name":"a","host":"h","state":"running","role":")" + std::string(word) + "\"}"))
            .leader(),
        nullptr);
  for (const char* const state : {"running", "streaming", "in archive recovery"})
    EXPECT_EQ(
        parsed(members(R"({"name":"a","host":"h","role":"replica","state":")" + std::string(state) + "\"}"))
            .members[0]
            .bar(),
        DownReason::None);
  for (const char* const state : {"stopped", "start failed", "creating replica", "crashed", ""})
    EXPECT_EQ(
        parsed(members(R"({"name":"a","host":"h","role":"replica","state":")" + std::string(state) + "\"}"))
            .members[0]
            .bar(),
        DownReason::NotRunning);
  // First of a standby cluster: it serves reads, and no writes.
  const ClusterView standby =
      parsed(members(R"({"name":"a","host":"h","role":"standby_leader","state":"running"})"));
  EXPECT_EQ(standby.leader(), nullptr);
  EXPECT_EQ(standby.members[0].bar(), DownReason::None);
}

TEST(Patroni, NamesNoLeaderWhereThereAreTwoOrItDoesNotRun) {
  const std::string one = R"({"name":"a","host":"h","role":"leader","state":"running"})";
  EXPECT_EQ(parsed(members(one + R"(,{"name":"b","host":"h","role":"leader","state":"running"})")).leader(),
            nullptr);
  EXPECT_EQ(parsed(members(R"({"name":"a","host":"h","role":"leader","state":"stopped"})")).leader(),
            nullptr);
  EXPECT_EQ(parsed(members("")).leader(), nullptr);
}

TEST(Patroni, PassesOverWhatItDoesNotKnow) {
  const ClusterView view = parsed(
      R"({"members": [{"name": "a", "host": "h", "port": "6000", "role": 5, "state": null, "timeline": -1,
          "lag": 1.5, "tags": [1], "new": {"x": []}}, {"name": "being_made"}], "pause": true})");
  ASSERT_EQ(view.members.size(), 1U) << "one without an address is left out";
  EXPECT_EQ(view.members[0].port, 6000);
  EXPECT_FALSE(view.members[0].timeline);
  EXPECT_FALSE(view.members[0].lag_bytes);
  EXPECT_EQ(parsed(R"({"members":[{"name":"a","host":"h","port":70000}]})").members[0].port, 5432);
  EXPECT_EQ(parsed(R"({"members":[{"name":"a","host":"h","tags":{"sluice_weight":0}}]})").members[0].weight,
            0U);
}

TEST(Patroni, RefusesWhatIsNoClusterStatus) {
  for (const char* const text : {"", "{", "[]", "null", "{}", R"({"members": 1})", "\xff\xfe"})
    EXPECT_FALSE(problem_of(text).empty());
  EXPECT_NE(problem_of(members(R"({"name": "a b", "host": "h"})")).find("name"), std::string::npos);
  EXPECT_NE(problem_of(members(R"({"name": "", "host": "h"})")).find("name"), std::string::npos);
  EXPECT_NE(problem_of(members(R"({"name": "a", "host": "h h"})")).find("address"), std::string::npos);
  EXPECT_NE(problem_of(members(R"({"name":"a","host":"h"},{"name":"a","host":"i"})")).find("twice"),
            std::string::npos);
}

TEST(Patroni, IsBounded) {
  std::string many;
  for (std::size_t i = 0; i <= kMembersMax; ++i)
    many += (i == 0 ? "" : ",") + std::string(R"({"name":"m)") + std::to_string(i) + R"(","host":"h"})";
  EXPECT_NE(problem_of(members(many)).find("too many"), std::string::npos);
  const std::string deep(200'000, '[');
  EXPECT_FALSE(problem_of("{\"members\":" + deep).empty());
  EXPECT_FALSE(problem_of("{\"members\":" + deep + std::string(200'000, ']') + "}").empty());
  std::string tags;
  for (int i = 0; i < 1000; ++i)
    tags += (i == 0 ? "\"t" : ",\"t") + std::to_string(i) + "\":\"" + std::string(100, 'x') + "\"";
  EXPECT_LE(parsed(members(R"({"name":"a","host":"h","tags":{)" + tags + "}}")).members[0].tags.size(), 500U);
}

// The console shows these as text: what is no text would end the session of whoever asks.
TEST(Patroni, CutsBetweenCharactersAndHasNoZeroBytes) {
  std::string word;
  for (int i = 0; i < 200; ++i)
    word += "\xe2\x82\xac";
  for (const char* const pad : {"", "x", "xx"}) {
    const ClusterView view = parsed(members(R"({"name":"a","host":"h","state":")" + (pad + word) +
                                            R"(","tags":{"t\u0000":")" + word + word + "\"}}"));
    EXPECT_TRUE(is_utf8(view.members[0].state));
    EXPECT_GE(view.members[0].state.size(), 198U);
    EXPECT_TRUE(is_utf8(view.members[0].tags));
    EXPECT_EQ(view.members[0].tags.find('\0'), std::string::npos);
  }
}

TEST(Patroni, SurvivesEveryTruncation) {
  for (std::size_t size = 0; size < kThree.size(); ++size)
    EXPECT_FALSE(problem_of(kThree.substr(0, size)).empty()) << size;
}

}  // namespace
}  // namespace sluice::cluster
