// What the keeper of the cluster says of a replica, on top of what its probes say.

#include <gtest/gtest.h>

#include "cluster/health.h"

namespace sluice::cluster {
namespace {

using namespace std::chrono_literals;

class Barred : public testing::Test {
 protected:
  bool ok(bool in_recovery = true) {
    now_ += 1s;
    return state_.on_probe_ok({now_ - 1ms, in_recovery, 0, 0ms}, now_);
  }
  bool bar(DownReason reason) {
    now_ += 1s;
    return state_.set_bar(reason, now_);
  }

  TimePoint now_ = TimePoint(1000s);
  HealthState state_{ServerRole::Replica, {}, now_};
};

TEST_F(Barred, IsDownForThatReasonWhateverProbesSay) {
  EXPECT_TRUE(ok());
  EXPECT_TRUE(bar(DownReason::NoLoadBalance));
  EXPECT_FALSE(state_.status().up);
  EXPECT_EQ(state_.status().reason, DownReason::NoLoadBalance);
  EXPECT_EQ(state_.status().since, now_);
  EXPECT_FALSE(ok());
  EXPECT_FALSE(state_.on_session_failure(now_));
  EXPECT_EQ(state_.status().reason, DownReason::NoLoadBalance);
}

TEST_F(Barred, IsAsItsProbesSayOnceTheBarIsLifted) {
  EXPECT_TRUE(ok());
  (void)bar(DownReason::NotRunning);
  EXPECT_TRUE(bar(DownReason::None));
  EXPECT_TRUE(state_.status().up);
  (void)bar(DownReason::Leader);
  (void)ok(false);
  EXPECT_TRUE(bar(DownReason::None));
  EXPECT_EQ(state_.status().reason, DownReason::NotInRecovery);
  EXPECT_FALSE(ok());
  EXPECT_TRUE(ok()) << "two good probes, as after any fault";
}

TEST_F(Barred, KeepsTheMomentItWentDownWhileReasonsChange) {
  (void)ok();
  (void)bar(DownReason::NotRunning);
  const TimePoint went_down = now_;
  EXPECT_TRUE(bar(DownReason::NoLoadBalance));
  EXPECT_EQ(state_.status().since, went_down);
}

TEST(Candidate, IsUpInAnyRecoveryState) {
  const TimePoint now(1000s);
  HealthState state(ServerRole::Candidate, {}, now);
  EXPECT_TRUE(state.on_probe_ok({now, true, std::nullopt, std::nullopt}, now));
  EXPECT_TRUE(state.status().up);
  EXPECT_FALSE(state.on_probe_ok({now, false, std::nullopt, std::nullopt}, now));
}

}  // namespace
}  // namespace sluice::cluster
