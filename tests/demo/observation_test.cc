#include "demo/observation.h"

#include <stdexcept>

#include <gtest/gtest.h>

namespace sluice::demo {
namespace {

constexpr std::string_view kReplicas = R"({"replicas": [
  {"name": "primary", "role": "primary", "pool": null, "borrowed": false, "up": true, "loads": {}},
  {"name": "r1", "role": "replica", "pool": "premium", "borrowed": true, "up": false,
   "loads": {"premium": 3, "freemium": 1}}]})";

TEST(Observation, ReadsReplicasWithSessionsInTheOrderOfTheClasses) {
  const auto replicas = read_replicas(kReplicas, {"freemium", "premium"});
  ASSERT_EQ(replicas.size(), 2U);
  EXPECT_EQ(replicas[0].role, "primary");
  EXPECT_EQ(replicas[0].pool, "");
  EXPECT_EQ(replicas[0].sessions, (std::vector<std::int64_t>{0, 0}));
  EXPECT_EQ(replicas[1].pool, "premium");
  EXPECT_TRUE(replicas[1].borrowed);
  EXPECT_FALSE(replicas[1].up);
  EXPECT_EQ(replicas[1].sessions, (std::vector<std::int64_t>{1, 3}));
}

TEST(Observation, RefusesWhatIsNotThePage) {
  for (const std::string_view bad :
       {"", "{", "[]", "{}", R"({"replicas": 1})", R"({"replicas": [{"name": 1}]})"})
    EXPECT_THROW(read_replicas(bad, {"premium"}), std::exception) << bad;
  std::int64_t after = 0;
  EXPECT_THROW(read_changes(R"({"decisions": [{"number": "x"}]})", after), std::exception);
}

constexpr std::string_view kDecisions = R"({"decisions": [
  {"number": 7, "time": "2026-01-02 03:04:05.678 UTC", "changes": []},
  {"number": 8, "time": "2026-01-02T03:04:06Z", "changes": [
    {"replica": "r5", "from": "premium", "to": "mixed", "kind": "return"},
    {"replica": "r3", "from": "freemium", "to": "premium", "kind": "borrow"}]},
  {"number": 9, "time": null, "changes": null}]})";

TEST(Observation, ReadsEachChangeOnce) {
  std::int64_t after = 0;
  const auto changes = read_changes(kDecisions, after);
  EXPECT_EQ(after, 9);
  ASSERT_EQ(changes.size(), 2U);
  EXPECT_FALSE(changes[0].borrow);
  EXPECT_EQ(changes[0].priority_class, "premium");
  EXPECT_EQ(changes[0].time, "03:04:06");
  EXPECT_TRUE(changes[1].borrow);
  EXPECT_EQ(changes[1].priority_class, "premium");
  EXPECT_EQ(changes[1].from, "freemium");
  EXPECT_TRUE(read_changes(kDecisions, after).empty());
  after = 7;
  EXPECT_EQ(read_changes(kDecisions, after).size(), 2U);
}

constexpr std::string_view kOverview = R"({"routes": [
  {"route": "/item", "method": null, "policy": "adaptive", "n_serial": 1.0, "chosen": "edge"},
  {"route": "/feed", "method": null, "policy": "user_first", "n_serial": null, "chosen": null},
  {"route": null, "method": null, "policy": "user_first", "n_serial": null, "chosen": "edge"}]})";

TEST(Observation, ReadsWhereRoutesGo) {
  const auto routes = read_routes(kOverview);
  ASSERT_EQ(routes.size(), 2U);
  EXPECT_EQ(routes[0].route, "/item");
  EXPECT_EQ(routes[0].host, "edge");
  EXPECT_EQ(routes[0].n_serial, 1.0);
  EXPECT_EQ(routes[1].policy, "user_first");
  EXPECT_EQ(routes[1].host, "");
  EXPECT_EQ(routes[1].n_serial, std::nullopt);
  EXPECT_THROW(read_routes("{}"), std::exception);
}

TEST(Observation, CountsHostsThatAreUp) {
  EXPECT_EQ(count_hosts_up(R"({"hosts": [{"name": "a", "up": true}, {"name": "b", "up": false}]})"), 1U);
  EXPECT_THROW(count_hosts_up(R"({"hosts": [{"name": "a"}]})"), std::exception);
}

}  // namespace
}  // namespace sluice::demo
