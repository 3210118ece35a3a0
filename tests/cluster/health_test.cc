#include "cluster/health.h"

#include <gtest/gtest.h>

#include "cluster/lag_estimator.h"
#include "cluster/probe_times.h"

namespace sluice::cluster {
namespace {

using namespace std::chrono_literals;

constexpr TimePoint kStart = TimePoint(1000s);

HealthSettings limits() {
  HealthSettings settings;
  settings.rise = 2;
  settings.fall = 3;
  settings.lag_bytes_max = 1000;
  settings.lag_max = 10s;
  return settings;
}

class Replica : public testing::Test {
 protected:
  bool ok(std::uint64_t lag_bytes = 0, std::chrono::milliseconds lag = 0ms) {
    now_ += 1s;
    return state_.on_probe_ok({now_ - 1ms, true, lag_bytes, lag}, now_);
  }
  bool failed(DownReason reason = DownReason::ProbeTimeout) {
    now_ += 1s;
    return state_.on_probe_failed({now_ - 1ms, reason}, now_);
  }
  bool session_failed() {
    now_ += 1ms;
    return state_.on_session_failure(now_);
  }
  bool up() const { return state_.status().up; }
  DownReason reason() const { return state_.status().reason; }

  TimePoint now_ = kStart;
  HealthState state_{ServerRole::Replica, limits(), kStart};
};

TEST_F(Replica, StartsDownAndTheFirstProbeDecides) {
  EXPECT_FALSE(up());
  EXPECT_EQ(reason(), DownReason::NotProbedYet);
  EXPECT_TRUE(ok());
  EXPECT_TRUE(up());
  EXPECT_EQ(state_.status().since, now_);
}

TEST_F(Replica, NeedsRiseAfterAFirstProbeThatFailed) {
  EXPECT_TRUE(failed(DownReason::ConnectFailed));
  EXPECT_EQ(reason(), DownReason::ConnectFailed);
  EXPECT_FALSE(ok());
  EXPECT_TRUE(ok());
}

TEST_F(Replica, GoesDownAfterFallFailuresInARowOnly) {
  ok();
  EXPECT_FALSE(failed());
  EXPECT_FALSE(failed());
  EXPECT_FALSE(ok());
  EXPECT_FALSE(failed());
  EXPECT_FALSE(failed());
  EXPECT_TRUE(failed());
  EXPECT_EQ(reason(), DownReason::ProbeTimeout);
  EXPECT_EQ(state_.failures_in_row(), 3);
}

TEST_F(Replica, AFailureInBetweenStartsTheRiseAnew) {
  failed();
  ok();
  failed();
  EXPECT_FALSE(ok());
  EXPECT_TRUE(ok());
}

TEST_F(Replica, ASessionsFailureTakesItOutAtOnceAndProbesBringItBack) {
  ok();
  EXPECT_TRUE(session_failed());
  EXPECT_EQ(reason(), DownReason::SessionFailed);
  EXPECT_FALSE(session_failed());
  EXPECT_FALSE(ok());
  EXPECT_TRUE(ok());
}

TEST_F(Replica, AProbeThatBeganBeforeASessionsFailureCountsForNothing) {
  ok();
  const TimePoint started = now_;
  session_failed();
  for (int i = 0; i < 5; ++i)
    EXPECT_FALSE(state_.on_probe_ok({started, true, 0, 0ms}, now_));
  EXPECT_FALSE(up());
}

TEST_F(Replica, IsDownWhenItIsNoStandby) {
  ok();
  EXPECT_TRUE(state_.on_probe_ok({now_, false, {}, {}}, now_));
  EXPECT_EQ(reason(), DownReason::NotInRecovery);
  HealthSettings any = limits();
  any.replica_recovery = ReplicaRecovery::Any;
  state_.configure(any);
  state_.on_probe_ok({now_, false, {}, {}}, now_);
  EXPECT_TRUE(state_.on_probe_ok({now_, false, {}, {}}, now_));
}

TEST_F(Replica, GoesDownForLagAndComesBackOnlyWellBelowTheLimit) {
  ok(1000, 10s);
  EXPECT_TRUE(up());
  EXPECT_TRUE(ok(1001, 0ms));
  EXPECT_EQ(reason(), DownReason::LagTooHigh);
  for (int i = 0; i < 5; ++i)
    EXPECT_FALSE(ok(900, 0ms));
  EXPECT_FALSE(ok(500, 5s));
  EXPECT_TRUE(ok(500, 5s));
  EXPECT_TRUE(ok(0, 10'001ms));
}

TEST_F(Replica, AChangeOfReasonKeepsTheTimeItWentDown) {
  ok();
  session_failed();
  const TimePoint since = state_.status().since;
  EXPECT_TRUE(failed(DownReason::ConnectFailed));
  EXPECT_EQ(reason(), DownReason::ConnectFailed);
  EXPECT_EQ(state_.status().since, since);
}

TEST(Primary, IsDownInRecoveryAndHasNoLag) {
  HealthState state(ServerRole::Primary, limits(), kStart);
  EXPECT_TRUE(state.on_probe_ok({kStart, false, 5000, 60s}, kStart));
  EXPECT_TRUE(state.status().up);
  EXPECT_TRUE(state.on_probe_ok({kStart, true, 0, 0ms}, kStart));
  EXPECT_EQ(state.status().reason, DownReason::InRecovery);
}

TEST(LagEstimator, AnIdlePrimaryIsNoLag) {
  LagEstimator lag;
  lag.on_head(100, kStart);
  EXPECT_EQ(lag.time_behind(100, kStart + 1h, 2h), 0ms);
  EXPECT_EQ(lag.bytes_behind(100), 0U);
  // One record after an hour: behind for as long as it has been there.
  lag.on_head(200, kStart + 1h);
  EXPECT_EQ(lag.time_behind(100, kStart + 1h + 20ms, 1h), 20ms);
  EXPECT_EQ(lag.bytes_behind(100), 100U);
}

TEST(LagEstimator, MeasuresFromTheFirstPositionNotReplayed) {
  LagEstimator lag;
  for (std::uint64_t i = 1; i <= 10; ++i)
    lag.on_head(i * 100, kStart + std::chrono::seconds(i));
  EXPECT_EQ(lag.time_behind(450, kStart + 10s, {}), 5s);
  EXPECT_EQ(lag.time_behind(1000, kStart + 10s, {}), 0ms);
  EXPECT_EQ(lag.time_behind(2000, kStart + 10s, {}), 0ms);
}

TEST(LagEstimator, TrustsTheTimestampForAReplicaBehindAllThatWasSeen) {
  LagEstimator lag;
  EXPECT_FALSE(lag.time_behind(1, kStart, 1h).has_value());
  lag.on_head(1000, kStart);
  EXPECT_EQ(lag.time_behind(10, kStart + 1s, 1h), 1h);
  EXPECT_EQ(lag.time_behind(10, kStart + 1s, {}), 1s);
}

TEST(LagEstimator, ForgetsWhenTheHeadGoesBackAndStaysBounded) {
  LagEstimator lag;
  lag.on_head(1000, kStart);
  lag.on_head(400, kStart + 1s);
  EXPECT_EQ(lag.bytes_behind(500), 0U);
  for (std::uint64_t i = 0; i < 2 * LagEstimator::kHistoryMax; ++i)
    lag.on_head(500 + i, kStart + 2s + std::chrono::milliseconds(i));
  EXPECT_EQ(lag.time_behind(0, kStart + 4s, {}),
            4s - 2s - std::chrono::milliseconds(LagEstimator::kHistoryMax));
}

TEST(ProbeTimes, GivesLastMedianMinimumAndAverage) {
  ProbeTimes times;
  EXPECT_EQ(times.median(), 0ns);
  EXPECT_EQ(times.minimum(), 0ns);
  times.add(100us);
  EXPECT_EQ(times.ewma(), 100us);
  times.add(300us);
  times.add(200us);
  EXPECT_EQ(times.last(), 200us);
  EXPECT_EQ(times.median(), 200us);
  EXPECT_EQ(times.minimum(), 100us);
  EXPECT_EQ(times.ewma(), 152us);
  for (std::size_t i = 0; i < ProbeTimes::kWindow; ++i)
    times.add(1ms);
  EXPECT_EQ(times.minimum(), 1ms);
  EXPECT_EQ(times.count(), ProbeTimes::kWindow);
}

TEST(HealthState, DoesNotJudgeARecoveryStateItDoesNotKnow) {
  for (const ServerRole role : {ServerRole::Replica, ServerRole::Primary}) {
    HealthState state(role, {}, TimePoint{});
    ProbeOk probe;
    probe.started = TimePoint{} + std::chrono::seconds(1);
    EXPECT_TRUE(state.on_probe_ok(probe, probe.started));
    EXPECT_TRUE(state.status().up);
  }
}

}  // namespace
}  // namespace sluice::cluster
