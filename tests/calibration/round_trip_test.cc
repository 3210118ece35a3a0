#include "calibration/round_trip.h"

#include <gtest/gtest.h>

namespace sluice::calibration {
namespace {

using config::Target;
using placement::Millis;
using std::chrono::seconds;

class RoundTripTest : public testing::Test {
 protected:
  RoundTripTest() {
    contents_.hosts.resize(2);
    contents_.hosts[1].name = "b";
    contents_.servers.resize(3);
    contents_.classes = {"premium", "freemium"};
    profile::fit_matrices(contents_);
    for (std::size_t server = 0; server < 3; ++server) {
      contents_.servers[server].up = true;
      profile::Rtt& rtt = contents_.rtt[3 + server];
      rtt.estimate = std::chrono::milliseconds(1 << server);  // 1, 2, 4
      rtt.samples = 10;
      rtt.source = profile::Rtt::Source::Measured;
      rtt.measured_at = now_ - seconds(server);
    }
    contents_.servers[0].role = profile::ServerRole::Primary;
    contents_.shares = {0, 0.75, 0.25, 0, 0, 0};
  }
  std::optional<Millis> sql(Target target, const char* priority_class, const char* host = "b") const {
    return sql_by_profile(contents_, host, target, priority_class, now_, seconds(60));
  }

  profile::Contents contents_;
  profile::Moment now_{seconds(1000)};
};

TEST_F(RoundTripTest, ThePrimarysIsItsOwn) {
  EXPECT_EQ(sql(Target::Primary, "premium"), Millis(1));
}

TEST_F(RoundTripTest, TheReplicasIsWeightedByTheSharesOfTheClass) {
  EXPECT_EQ(sql(Target::Replicas, "premium"), Millis(2.5));
  EXPECT_EQ(sql(Target::Replicas, "freemium"), Millis(3));
  EXPECT_EQ(sql(Target::Replicas, "unheard of"), Millis(3));
}

TEST_F(RoundTripTest, ServersThatAreDownDoNotCount) {
  contents_.servers[2].up = false;
  EXPECT_EQ(sql(Target::Replicas, "premium"), Millis(2));
  contents_.servers[0].up = false;
  EXPECT_EQ(sql(Target::Primary, "premium"), std::nullopt);
}

TEST_F(RoundTripTest, WhatIsOldOrWasNeverMeasuredIsUnknown) {
  contents_.rtt[4].measured_at = now_ - seconds(61);
  EXPECT_EQ(sql(Target::Replicas, "premium"), Millis(4));
  contents_.rtt[5].samples = 0;
  EXPECT_EQ(sql(Target::Replicas, "premium"), std::nullopt);
  EXPECT_EQ(sql(Target::Primary, "premium", "elsewhere"), std::nullopt);
}

}  // namespace
}  // namespace sluice::calibration
