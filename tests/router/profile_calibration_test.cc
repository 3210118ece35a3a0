#include "router/profile_calibration.h"

#include <gtest/gtest.h>

namespace sluice::router {
namespace {

using namespace std::chrono_literals;
using calibration::Millis;

const profile::Moment kNow{1000h};
const std::chrono::system_clock::time_point kWallNow{500000h};

calibration::Measurement measured(double ms, std::uint32_t samples = 500) {
  return {Millis(ms), Millis(ms), Millis(ms), samples,
          std::chrono::time_point_cast<std::chrono::seconds>(kWallNow - 60s)};
}

calibration::Calibration sample() {
  calibration::Calibration c;
  c.hosts = {{"a", measured(0.741), measured(0.088), measured(0.355)}, {"elsewhere", measured(1), {}, {}}};
  c.routes = {{"/feed", 3.0, calibration::NSerialSource::Counted, {{"a", measured(2.261), {}, {}}}}};
  complete(c);
  return c;
}

profile::Contents router_contents() {
  profile::Contents contents;
  contents.hosts.resize(2);
  contents.hosts[0].name = "a";
  contents.hosts[1].name = "b";
  contents.servers.resize(2);
  contents.routes.resize(1);
  contents.routes[0].name = "/other";
  fit_matrices(contents);
  contents.rtt[0] = {400us, 9, profile::Rtt::Source::Measured, kNow - 1s};
  return contents;
}

TEST(CalibrationInTheProfile, FillsHostsRoutesAndResiduals) {
  profile::Contents contents = router_contents();
  apply_calibration(contents, sample(), kNow, kWallNow);
  EXPECT_TRUE(is_consistent(contents));
  EXPECT_EQ(contents.hosts[0].path, 741us);
  EXPECT_EQ(contents.hosts[0].connect, 88us);
  EXPECT_EQ(contents.hosts[0].path_samples, 500u);
  EXPECT_EQ(contents.hosts[0].calibrated_at, kNow - 60s);
  EXPECT_EQ(contents.hosts[1].path_samples, 0u);
  ASSERT_EQ(contents.routes.size(), 2u);
  EXPECT_EQ(contents.routes[1].name, "/feed");
  EXPECT_EQ(contents.routes[1].n_serial_calibrated, 3);
  EXPECT_EQ(contents.routes[0].n_serial_calibrated, -1);
  EXPECT_EQ(contents.residuals[1].residual, 455us) << "2.261 - 0.741 - 3 x 0.355";
  EXPECT_EQ(contents.residuals[1].samples, 500u);
  EXPECT_EQ(contents.residuals[0].samples, 0u);
}

TEST(CalibrationInTheProfile, TakesResidualsForTheObservedNumberOfCalls) {
  profile::Contents contents = router_contents();
  contents.routes[0].name = "/feed";
  contents.routes[0].requests = 100;
  contents.routes[0].n_serial_median = 4;
  apply_calibration(contents, sample(), kNow, kWallNow);
  EXPECT_EQ(contents.residuals[0].residual, 100us) << "2.261 - 0.741 - 4 x 0.355";
  contents.routes[0].untraced_share = 0.2;
  apply_calibration(contents, sample(), kNow, kWallNow);
  EXPECT_EQ(contents.residuals[0].residual, 455us) << "too thin to be believed";
}

TEST(CalibrationInTheProfile, StandsInWhereTheRouterHasNotMeasured) {
  profile::Contents contents = router_contents();
  apply_calibration(contents, sample(), kNow, kWallNow);
  EXPECT_EQ(contents.rtt[0].source, profile::Rtt::Source::Measured);
  EXPECT_EQ(contents.rtt[0].estimate, 400us);
  EXPECT_EQ(contents.rtt[1].source, profile::Rtt::Source::Calibrated);
  EXPECT_EQ(contents.rtt[1].estimate, 355us);
  EXPECT_EQ(contents.rtt[2].source, profile::Rtt::Source::None);
}

TEST(CalibrationInTheProfile, OfTheFutureIsOfNow) {
  profile::Contents contents = router_contents();
  apply_calibration(contents, sample(), kNow, kWallNow - 1h);
  EXPECT_EQ(contents.hosts[0].calibrated_at, kNow);
}

}  // namespace
}  // namespace sluice::router
