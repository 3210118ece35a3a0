#include "router/admission.h"

#include <thread>

#include <gtest/gtest.h>

namespace sluice::router {
namespace {

policy::PoolConfig pools() {
  policy::PoolConfig config;
  config.policy = policy::PolicyKind::LeastLoaded;
  for (const char* name : {"premium", "freemium"}) {
    policy::ClassParams params;
    params.name = name;
    config.classes.push_back(std::move(params));
  }
  config.replicas = {{"a", std::nullopt}, {"b", std::nullopt}};
  return config;
}

SessionTag tag_of(std::string user, std::string database = "app", std::uint32_t priority = 0) {
  return {SessionId(1), std::move(user), std::move(database), policy::ClassId(priority), "host"};
}

TEST(Admission, NamesTheLimitThatIsReached) {
  SessionLimits limits;
  limits.total = 4;
  limits.per_user = 2;
  limits.per_database = [](std::string_view name) { return name == "small" ? std::size_t{1} : 0; };
  limits.per_class = {{"freemium", 1}};
  Admission admission(pools(), limits);
  EXPECT_EQ(admission.enter(tag_of("alice")), std::nullopt);
  EXPECT_EQ(admission.enter(tag_of("alice")), std::nullopt);
  EXPECT_EQ(admission.enter(tag_of("alice")), "max_user_client_connections");
  EXPECT_EQ(admission.enter(tag_of("bob", "small")), std::nullopt);
  EXPECT_EQ(admission.enter(tag_of("carol", "small")), "max_db_client_connections");
  EXPECT_EQ(admission.enter(tag_of("carol", "app", 1)), std::nullopt);
  EXPECT_EQ(admission.enter(tag_of("dave", "app", 1)), "max_client_conn");
  admission.leave(tag_of("alice"));
  EXPECT_EQ(admission.enter(tag_of("dave", "app", 1)), "max_sessions of class freemium");
  EXPECT_EQ(admission.session_count(), 3U);
}

TEST(Admission, ForgetsWhoLeft) {
  Admission admission(pools(), {});
  EXPECT_EQ(admission.enter(tag_of("alice")), std::nullopt);
  EXPECT_EQ(admission.sessions_by_host().at("host"), 1U);
  admission.leave(tag_of("alice"));
  EXPECT_EQ(admission.session_count(), 0U);
  EXPECT_TRUE(admission.sessions_by_host().empty());
}

TEST(Admission, CountsRefusalsNowhere) {
  SessionLimits limits;
  limits.per_user = 1;
  Admission admission(pools(), limits);
  EXPECT_EQ(admission.enter(tag_of("alice")), std::nullopt);
  for (int i = 0; i < 3; ++i)
    EXPECT_NE(admission.enter(tag_of("alice")), std::nullopt);
  admission.leave(tag_of("alice"));
  EXPECT_EQ(admission.enter(tag_of("alice")), std::nullopt);
}

TEST(Admission, TakesNewLimitsForThoseWhoComeLater) {
  Admission admission(pools(), {});
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(admission.enter(tag_of("alice")), std::nullopt);
  SessionLimits limits;
  limits.total = 2;
  admission.reconfigure(pools(), limits);
  EXPECT_EQ(admission.enter(tag_of("alice")), "max_client_conn");
  for (int i = 0; i < 2; ++i)
    admission.leave(tag_of("alice"));
  EXPECT_EQ(admission.enter(tag_of("alice")), std::nullopt);
}

TEST(Admission, AssignsAmongTheLiveThatAreNotExcluded) {
  Admission admission(pools(), {});
  const auto a = *admission.find_replica("a");
  const auto b = *admission.find_replica("b");
  const std::vector<policy::ReplicaId> failed = {a};
  const auto granted = admission.admit(tag_of("alice"), failed);
  ASSERT_TRUE(granted);
  EXPECT_EQ(granted->replica, b);
  admission.set_up(b, false);
  EXPECT_FALSE(admission.admit(tag_of("alice"), failed));
  EXPECT_TRUE(admission.any_live());
  admission.set_up(a, false);
  EXPECT_FALSE(admission.any_live());
  admission.close(granted->replica, granted->counted_in);
  for (const policy::ReplicaSnapshot& replica : admission.snapshot().replicas)
    EXPECT_EQ(replica.total_load, 0);
}

TEST(Admission, DrainsReplicasOfTheConfigurationAlone) {
  Admission admission(pools(), {});
  EXPECT_FALSE(admission.set_draining("unknown", true));
  EXPECT_TRUE(admission.set_draining("a", true));
  EXPECT_TRUE(admission.draining(*admission.find_replica("a")));
  const auto granted = admission.admit(tag_of("alice"), {});
  ASSERT_TRUE(granted);
  EXPECT_EQ(granted->replica, *admission.find_replica("b"));
  admission.close(granted->replica, granted->counted_in);
}

TEST(Admission, KeepsTheLastDecisions) {
  Admission admission(pools(), {});
  for (std::size_t i = 0; i < Admission::kDecisionsKept + 5; ++i) {
    const auto granted = admission.admit(tag_of("alice"), {});
    ASSERT_TRUE(granted);
    admission.close(granted->replica, granted->counted_in);
  }
  const auto decisions = admission.decisions();
  ASSERT_EQ(decisions.size(), Admission::kDecisionsKept);
  EXPECT_EQ(decisions.front().number, 6U);
  EXPECT_EQ(decisions.back().number, Admission::kDecisionsKept + 5);
  EXPECT_EQ(decisions.back().tag.user, "alice");
}

TEST(Admission, AgreesWithItselfWhenManyThreadsUseIt) {
  SessionLimits limits;
  limits.total = 6;
  Admission admission(pools(), limits);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&admission, t] {
      const SessionTag tag = tag_of("user" + std::to_string(t % 2));
      for (int i = 0; i < 500; ++i) {
        if (admission.enter(tag)) continue;
        if (const auto granted = admission.admit(tag, {}))
          admission.close(granted->replica, granted->counted_in);
        admission.leave(tag);
      }
    });
  for (int i = 0; i < 50; ++i) {
    EXPECT_LE(admission.session_count(), 6U);
    admission.reconfigure(pools(), limits);
  }
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_EQ(admission.session_count(), 0U);
  for (const policy::ReplicaSnapshot& replica : admission.snapshot().replicas)
    EXPECT_EQ(replica.total_load, 0);
}

}  // namespace
}  // namespace sluice::router
