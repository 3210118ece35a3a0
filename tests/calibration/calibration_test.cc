#include "calibration/calibration.h"

#include <gtest/gtest.h>

#include "tests/calibration/sample.h"

namespace sluice::calibration {
namespace {

double residual_ms(const Calibration& c, std::size_t route, std::size_t host) {
  return c.routes.at(route).hosts.at(host).residual.value().count();
}

TEST(Calibration, CompletesThePublishedResiduals) {
  const Calibration c = sample();
  EXPECT_NEAR(residual_ms(c, 0, 0), 0.455, 1e-9);
  EXPECT_NEAR(residual_ms(c, 0, 1), 0.278, 1e-9);
  EXPECT_NEAR(residual_ms(c, 1, 0), 0.649, 1e-9);
  EXPECT_NEAR(residual_ms(c, 1, 1), 0.197, 1e-9);
  EXPECT_EQ(c.routes[2].hosts[0].residual, std::nullopt);
}

TEST(Calibration, AResidualNeedsEveryPart) {
  Calibration c = sample();
  c.hosts[0].select_1.reset();
  c.hosts[1].health.reset();
  complete(c);
  for (std::size_t route : {0U, 1U})
    for (std::size_t host : {0U, 1U})
      EXPECT_EQ(c.routes[route].hosts[host].residual, std::nullopt);
  c.routes[0].n_serial = 0;  // no call, no SELECT 1
  complete(c);
  EXPECT_NEAR(residual_ms(c, 0, 0), 1.520, 1e-9);
}

TEST(Calibration, GivesTheResidualForAnotherNSerial) {
  const Calibration c = sample();
  EXPECT_NEAR(residual_for(c, c.routes[0], "a", 2, SqlSource::Matrix)->count(), 0.455 + 0.355, 1e-9);
  EXPECT_EQ(residual_for(c, c.routes[0], "c", 2, SqlSource::Matrix), std::nullopt);
}

TEST(Calibration, ARoutesOwnRoundTripGoesBeforeTheHosts) {
  Calibration c = sample();
  c.routes[0].hosts[0].sql = Millis(0.255);
  complete(c);
  EXPECT_NEAR(residual_ms(c, 0, 0), 0.755, 1e-9);
  EXPECT_NEAR(residual_for(c, c.routes[0], "a", 3, SqlSource::SelectOne)->count(), 0.455, 1e-9);
  EXPECT_NEAR(residual_for(c, c.routes[0], "b", 3, SqlSource::Matrix)->count(), 0.278, 1e-9);
}

TEST(Calibration, MergingASqlOnlyPartMakesResidualsAnew) {
  Calibration c = sample();
  Calibration part;
  part.hosts = {{"b", {}, {}, sample_measurement(0.331)}, {"c", {}, {}, sample_measurement(0.5)}};
  merge(c, part);
  ASSERT_EQ(c.hosts.size(), 3U);
  EXPECT_EQ(c.hosts[1].health, sample_measurement(1.480));
  EXPECT_NEAR(residual_ms(c, 0, 1), 0.278 - 0.3, 1e-9);
}

TEST(Calibration, MergingRoutesReplacesWhatWasMeasuredAgain) {
  Calibration c = sample();
  Calibration part;
  part.routes = {{"/feed",
                  {},
                  NSerialSource::Configured,
                  {{"b", sample_measurement(3), {}, {}}, {"c", sample_measurement(9), {}, {}}}},
                 {"/new", 1, NSerialSource::Observed, {}}};
  merge(c, part);
  ASSERT_EQ(c.routes.size(), 4U);
  EXPECT_EQ(c.routes[0].n_serial, 3);
  ASSERT_EQ(c.routes[0].hosts.size(), 3U);
  EXPECT_EQ(c.routes[0].hosts[1].response, sample_measurement(3));
  EXPECT_EQ(c.find_route("/new")->n_serial_source, NSerialSource::Observed);
  EXPECT_EQ(c.find_route("/nothing"), nullptr);
}

}  // namespace
}  // namespace sluice::calibration
