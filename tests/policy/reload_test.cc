#include <gtest/gtest.h>

#include "sluice/policy/assignment.h"

namespace sluice::policy {
namespace {

PoolConfig config_of(std::vector<std::string> classes, std::vector<std::string> replicas) {
  PoolConfig config;
  for (const std::string& name : classes)
    config.classes.push_back({name, 2, *Ratio::parse("1"), 0, 1});
  for (const std::string& name : replicas)
    config.replicas.push_back({name, std::nullopt});
  return config;
}

Decision admit_of(Assignment& a, const char* cls) {
  return a.admit({*a.find_class(cls), "", std::nullopt});
}

const ReplicaSnapshot& row(const Snapshot& s, const std::string& name) {
  for (const ReplicaSnapshot& r : s.replicas)
    if (r.name == name) return r;
  static const ReplicaSnapshot none;
  return none;
}

TEST(Reload, KeepsLoadsRolesAndMarksOfReplicasByName) {
  Assignment a(config_of({"gold", "silver"}, {"r0", "r1", "r2"}));
  for (int i = 0; i < 3; ++i)
    admit_of(a, "gold");  // two on r0, one on r2, borrowed
  a.set_up(*a.find_replica("r1"), false);
  a.set_draining(*a.find_replica("r2"), true);
  a.reconfigure(config_of({"gold", "silver"}, {"r2", "r9", "r1", "r0"}));
  const Snapshot s = a.snapshot();
  EXPECT_EQ(s.replicas[0].name, "r2");
  EXPECT_EQ(row(s, "r0").loads, (std::vector<std::int64_t>{2, 0}));
  EXPECT_EQ(row(s, "r2").loads, (std::vector<std::int64_t>{1, 0}));
  EXPECT_TRUE(row(s, "r2").borrowed);
  EXPECT_TRUE(row(s, "r2").draining);
  EXPECT_FALSE(row(s, "r1").up);
  EXPECT_EQ(row(s, "r9").pool_name, "silver");  // second in the list
}

TEST(Reload, KeepsARemovedReplicaUntilItsSessionsAreClosed) {
  Assignment a(config_of({"gold", "silver"}, {"r0", "r1"}));
  const Decision d = admit_of(a, "gold");
  a.reconfigure(config_of({"gold", "silver"}, {"r1"}));
  EXPECT_FALSE(row(a.snapshot(), "r0").configured);
  EXPECT_EQ(row(a.snapshot(), "r0").total_load, 1);
  EXPECT_EQ(a.snapshot().classes[0].sessions, 1);
  EXPECT_EQ(admit_of(a, "gold").replica, *a.find_replica("r1"));
  a.close(d.replica, d.counted_in);
  EXPECT_EQ(a.snapshot().replicas.size(), 1u);
}

TEST(Reload, FindsTheLoadsOfAReplicaThatComesBack) {
  Assignment a(config_of({"gold", "silver"}, {"r0", "r1"}));
  const Decision d = admit_of(a, "gold");
  a.reconfigure(config_of({"gold", "silver"}, {"r1"}));
  a.reconfigure(config_of({"gold", "silver"}, {"r1", "r0"}));
  EXPECT_EQ(*a.find_replica("r0"), d.replica);
  EXPECT_EQ(row(a.snapshot(), "r0").pool_name, "silver");  // its role was forgotten with its removal
  EXPECT_EQ(row(a.snapshot(), "r0").total_load, 1);
}

TEST(Reload, CountsSessionsOfARemovedClassInTotalsAndCloses) {
  Assignment a(config_of({"gold", "silver"}, {"r0", "r1"}));
  const Decision d = admit_of(a, "silver");
  a.reconfigure(config_of({"gold"}, {"r0", "r1"}));
  EXPECT_EQ(row(a.snapshot(), "r1").total_load, 1);
  EXPECT_EQ(row(a.snapshot(), "r1").pool_name, "mixed");  // its pool went with the class
  a.close(d.replica, d.counted_in);
  EXPECT_EQ(row(a.snapshot(), "r1").total_load, 0);
}

TEST(Reload, CountsAnArrivalOfARemovedClassInTheLowest) {
  Assignment a(config_of({"gold", "silver", "bronze"}, {"r0", "r1", "r2"}));
  const ClassId silver = *a.find_class("silver");
  a.reconfigure(config_of({"gold", "bronze"}, {"r0", "r1", "r2"}));
  const Decision d = a.admit({silver, "", std::nullopt});
  EXPECT_EQ(d.counted_in, *a.find_class("bronze"));
  a.close(d.replica, d.counted_in);
  EXPECT_EQ(a.snapshot().classes[1].sessions, 0);
}

TEST(Reload, FollowsANewOrderOfClasses) {
  Assignment a(config_of({"gold", "silver"}, {"r0", "r1"}));
  a.reconfigure(config_of({"silver", "gold"}, {"r0", "r1"}));
  EXPECT_EQ(a.pools().rank(*a.find_class("silver")), 0u);
  EXPECT_EQ(a.snapshot().classes[0].params.name, "silver");
  EXPECT_EQ(admit_of(a, "silver").replica, *a.find_replica("r1"));
}

TEST(Reload, KeepsLoadsWhenThePolicyChanges) {
  PoolConfig config = config_of({"gold", "silver"}, {"r0", "r1", "r2"});
  config.policy = PolicyKind::RoundRobin;
  Assignment a(config);
  admit_of(a, "gold");
  a.reconfigure(config);
  EXPECT_EQ(admit_of(a, "gold").replica.value(), 1u);  // the cursor stays with the policy
  config.policy = PolicyKind::LeastLoaded;
  a.reconfigure(config);
  EXPECT_EQ(a.policy(), PolicyKind::LeastLoaded);
  EXPECT_EQ(admit_of(a, "gold").replica.value(), 2u);
  config.policy = PolicyKind::Dedicated;
  config.classes.push_back({"bronze", 2, *Ratio::parse("1"), 0, 0});
  a.reconfigure(config);
  EXPECT_EQ(admit_of(a, "bronze").outcome, Outcome::FallbackAny);
  EXPECT_EQ(a.snapshot().classes[0].sessions, 3);
}

}  // namespace
}  // namespace sluice::policy
