#include "router/admission.h"

#include <algorithm>
#include <memory>
#include <thread>

#include <gtest/gtest.h>

#include "tests/router/admission_fixture.h"

namespace sluice::router {
namespace {

using test::granted_at_once;

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
  SessionTag tag;
  tag.id = SessionId(1);
  tag.user = std::move(user);
  tag.database = std::move(database);
  tag.priority = policy::ClassId(priority);
  tag.host = "host";
  return tag;
}

// Sessions that are open, each with the tag that it entered with.
class Open {
 public:
  explicit Open(Admission& admission) : admission_(admission) {}

  std::optional<std::string> enter(SessionTag tag) {
    auto session = std::make_unique<SessionTag>(std::move(tag));
    auto limit = admission_.enter(*session);
    if (!limit) sessions_.push_back(std::move(session));
    return limit;
  }
  void leave(std::string_view user) {
    const auto found = std::find_if(sessions_.begin(), sessions_.end(),
                                    [&](const auto& session) { return session->user == user; });
    ASSERT_NE(found, sessions_.end());
    admission_.leave(**found);
    sessions_.erase(found);
  }

 private:
  Admission& admission_;
  std::vector<std::unique_ptr<SessionTag>> sessions_;
};

TEST(Admission, NamesTheLimitThatIsReached) {
  AdmissionLimits limits;
  limits.total = 4;
  limits.per_user = 2;
  limits.per_database = [](std::string_view name) { return name == "small" ? std::size_t{1} : 0; };
  limits.of_class = {{"freemium", 1}};
  Admission admission(pools(), limits);
  Open open(admission);
  EXPECT_EQ(open.enter(tag_of("alice")), std::nullopt);
  EXPECT_EQ(open.enter(tag_of("alice")), std::nullopt);
  EXPECT_EQ(open.enter(tag_of("alice")), "max_user_client_connections");
  EXPECT_EQ(open.enter(tag_of("bob", "small")), std::nullopt);
  EXPECT_EQ(open.enter(tag_of("carol", "small")), "max_db_client_connections");
  EXPECT_EQ(open.enter(tag_of("carol", "app", 1)), std::nullopt);
  EXPECT_EQ(open.enter(tag_of("dave", "app", 1)), "max_client_conn");
  open.leave("alice");
  EXPECT_EQ(open.enter(tag_of("dave", "app", 1)), "max_sessions of class freemium");
  EXPECT_EQ(admission.session_count(), 3U);
}

TEST(Admission, ForgetsWhoLeft) {
  Admission admission(pools(), {});
  Open open(admission);
  EXPECT_EQ(open.enter(tag_of("alice")), std::nullopt);
  EXPECT_EQ(admission.sessions_by_host().at("host"), 1U);
  open.leave("alice");
  EXPECT_EQ(admission.session_count(), 0U);
  EXPECT_TRUE(admission.sessions_by_host().empty());
}

TEST(Admission, CountsRefusalsNowhere) {
  AdmissionLimits limits;
  limits.per_user = 1;
  Admission admission(pools(), limits);
  Open open(admission);
  EXPECT_EQ(open.enter(tag_of("alice")), std::nullopt);
  for (int i = 0; i < 3; ++i)
    EXPECT_NE(open.enter(tag_of("alice")), std::nullopt);
  open.leave("alice");
  EXPECT_EQ(open.enter(tag_of("alice")), std::nullopt);
}

TEST(Admission, TakesNewLimitsForThoseWhoComeLater) {
  Admission admission(pools(), {});
  Open open(admission);
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(open.enter(tag_of("alice")), std::nullopt);
  AdmissionLimits limits;
  limits.total = 2;
  admission.reconfigure(pools(), limits);
  EXPECT_EQ(open.enter(tag_of("alice")), "max_client_conn");
  for (int i = 0; i < 2; ++i)
    open.leave("alice");
  EXPECT_EQ(open.enter(tag_of("alice")), std::nullopt);
}

TEST(Admission, AssignsAmongTheLiveThatAreNotExcluded) {
  Admission admission(pools(), {});
  const auto a = *admission.find_replica("a");
  const auto b = *admission.find_replica("b");
  const std::vector<policy::ReplicaId> failed = {a};
  const auto granted = granted_at_once(admission, tag_of("alice"), failed);
  ASSERT_TRUE(granted);
  EXPECT_EQ(granted->replica, b);
  admission.set_up(b, false);
  EXPECT_FALSE(granted_at_once(admission, tag_of("alice"), failed));
  EXPECT_TRUE(admission.any_live());
  admission.set_up(a, false);
  EXPECT_FALSE(admission.any_live());
  admission.close(*granted);
  for (const policy::ReplicaSnapshot& replica : admission.snapshot().replicas)
    EXPECT_EQ(replica.total_load, 0);
}

TEST(Admission, DrainsReplicasOfTheConfigurationAlone) {
  Admission admission(pools(), {});
  EXPECT_FALSE(admission.set_draining("unknown", true));
  EXPECT_TRUE(admission.set_draining("a", true));
  EXPECT_TRUE(admission.draining(*admission.find_replica("a")));
  const auto granted = granted_at_once(admission, tag_of("alice"));
  ASSERT_TRUE(granted);
  EXPECT_EQ(granted->replica, *admission.find_replica("b"));
  admission.close(*granted);
}

TEST(Admission, KeepsTheLastDecisions) {
  Admission admission(pools(), {});
  for (std::size_t i = 0; i < Admission::kDecisionsKept + 5; ++i) {
    const auto granted = granted_at_once(admission, tag_of("alice"));
    ASSERT_TRUE(granted);
    admission.close(*granted);
  }
  const auto decisions = admission.decisions();
  ASSERT_EQ(decisions.size(), Admission::kDecisionsKept);
  EXPECT_EQ(decisions.front().number, 6U);
  EXPECT_EQ(decisions.back().number, Admission::kDecisionsKept + 5);
  EXPECT_EQ(decisions.back().tag.user, "alice");
  const auto newest = admission.decisions(3);
  ASSERT_EQ(newest.size(), 3U);
  EXPECT_EQ(newest.front().number, Admission::kDecisionsKept + 3);
  EXPECT_EQ(newest.back().number, Admission::kDecisionsKept + 5);
}

TEST(Admission, KeepsTheRoleChangesOfTheLastHour) {
  policy::PoolConfig config = pools();
  config.policy = policy::PolicyKind::Plb;
  config.replicas.push_back({"c", std::nullopt});
  for (policy::ClassParams& params : config.classes) {
    params.saturation = 1;
    params.floor = 0;
    params.target = 1;
  }
  Admission admission(config, {});
  ASSERT_TRUE(granted_at_once(admission, tag_of("alice")));
  EXPECT_TRUE(admission.role_changes().empty());
  ASSERT_TRUE(granted_at_once(admission, tag_of("alice")));
  const auto changes = admission.role_changes();
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes[0].number, 1U);
  EXPECT_EQ(changes[0].priority, policy::ClassId(0));
  EXPECT_EQ(changes[0].change.kind, policy::ChangeKind::Borrow);
  EXPECT_TRUE(changes[0].change.from.is_mixed());
  EXPECT_TRUE(admission.role_changes(0).empty());
}

TEST(Admission, AgreesWithItselfWhenManyThreadsUseIt) {
  AdmissionLimits limits;
  limits.total = 6;
  Admission admission(pools(), limits);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&admission, t] {
      SessionTag tag = tag_of("user" + std::to_string(t % 2));
      for (int i = 0; i < 500; ++i) {
        if (admission.enter(tag)) continue;
        if (const auto granted = granted_at_once(admission, tag)) admission.close(*granted);
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
