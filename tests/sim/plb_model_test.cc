#include "sim/plb_model.h"

#include <bit>
#include <cmath>
#include <string>

#include <gtest/gtest.h>

namespace sluice::sim {
namespace {

const Strategy& strategy(const std::string& name) {
  static const std::vector<Strategy> all = paper_strategies();
  for (const Strategy& s : all)
    if (s.name == name) return s;
  ADD_FAILURE() << name;
  return all.front();
}

TEST(PlbModel, EveryStrategyMeetsTheSameSessions) {
  PlbWorkload load;
  load.sessions = 300;
  load.premium_share = 0.3;
  const PlbOutcome first = run(load, paper_strategies().front());
  for (const Strategy& s : paper_strategies()) {
    SCOPED_TRACE(s.name);
    const PlbOutcome out = run(load, s);
    EXPECT_EQ(out.classes[0].sessions, first.classes[0].sessions);
    EXPECT_EQ(out.classes[1].sessions, first.classes[1].sessions);
    EXPECT_EQ(out.all.sessions, out.classes[0].sessions + out.classes[1].sessions);
    EXPECT_EQ(out.all.queries, out.classes[0].queries + out.classes[1].queries);
    EXPECT_EQ(out.utilization.size(), 5U);
  }
  // 5 standard deviations about the means of the Poisson and binomial laws.
  EXPECT_NEAR(static_cast<double>(first.all.sessions), 300, 5 * std::sqrt(300.0));
  EXPECT_NEAR(static_cast<double>(first.classes[0].sessions), 90, 5 * std::sqrt(300 * 0.3));
}

// With hardly any load a query takes its demand over the cores it may use, wherever it runs.
TEST(PlbModel, AloneAQueryTakesItsDemandOverItsCores) {
  PlbWorkload load;
  load.sessions = 5;
  load.cores_per_query = 3;
  load.demand_mean = 8;
  load.demand_cv = 1e-6;
  for (const Strategy& s : paper_strategies()) {
    const PlbOutcome out = run(load, s);
    ASSERT_GT(out.all.queries, 0U);
    EXPECT_NEAR(out.all.median, 8.0 / 3, 1e-4) << s.name;
    EXPECT_NEAR(out.all.p95, 8.0 / 3, 1e-4) << s.name;
    EXPECT_EQ(out.borrowings, 0U) << s.name;
  }
}

// Waiting for storage is in the response time, occupies no core, and is the same on a crowded replica.
TEST(PlbModel, StorageIsWaitedForBesideTheWork) {
  PlbWorkload load;
  load.sessions = 300;
  load.demand_cv = 1e-6;
  load.storage_mean = 2;
  load.cores = 1e6;  // nobody is short of them
  for (const Strategy& s : paper_strategies()) {
    const PlbOutcome out = run(load, s);
    // The exponential law's mean and median; 300 sessions ask some 900 queries.
    EXPECT_NEAR(out.all.mean, load.demand_mean + 2, 0.3) << s.name;
    EXPECT_NEAR(out.all.median, load.demand_mean + 2 * std::log(2.0), 0.3) << s.name;
    const double work = load.demand_mean * static_cast<double>(out.all.queries);
    EXPECT_NEAR(out.mean_utilization * 5 * load.cores * load.duration, work, 0.1 * work)
        << s.name;  // some is done later
  }
}

TEST(PlbModel, UtilizationIsTheWorkOverTheCores) {
  PlbWorkload load;
  load.sessions = 200;
  load.lifetime_min = 1;
  load.lifetime_max = 2;
  load.demand_cv = 1e-6;
  load.think_mean = 1e6;  // one query per session
  const PlbOutcome out = run(load, strategy("5RR"));
  EXPECT_EQ(out.all.queries, out.all.sessions);
  const double work = load.demand_mean * static_cast<double>(out.all.queries);
  EXPECT_NEAR(out.mean_utilization, work / (5 * 18 * 180), 0.02);  // some ends after the duration
  for (const double u : out.utilization)
    EXPECT_LE(u, 1);
}

TEST(PlbModel, StaticPoolsKeepClassesApart) {
  PlbWorkload load;
  load.sessions = 400;
  load.premium_share = 1 - 1e-12;  // Premium alone
  const PlbOutcome out = run(load, strategy("3RR+2RR"));
  for (const std::size_t i : {0U, 1U, 2U})
    EXPECT_GT(out.utilization[i], 0.3) << i;
  EXPECT_EQ(out.utilization[3], 0);
  EXPECT_EQ(out.utilization[4], 0);
  EXPECT_EQ(out.classes[1].queries, 0U);
  EXPECT_GT(out.utilization_cv, 0.8);
}

TEST(PlbModel, UnderScarcityPlbBorrowsAndPremiumIsQuicker) {
  PlbWorkload load;
  load.sessions = 1'000;
  load.premium_share = 0.3;
  load.think_mean = 0.5;
  load.demand_mean = 8;
  load.cores_per_query = 3;
  double plb = 0, rr = 0, freemium_plb = 0, freemium_rr = 0;
  std::uint64_t borrowings = 0;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    load.seed = seed;
    const PlbOutcome with = run(load, strategy("5PLB")), without = run(load, strategy("5RR"));
    plb += with.classes[0].median;
    rr += without.classes[0].median;
    freemium_plb += with.classes[1].median;
    freemium_rr += without.classes[1].median;
    borrowings += with.borrowings;
  }
  EXPECT_LT(plb, 0.8 * rr);
  EXPECT_GT(freemium_plb, freemium_rr);
  EXPECT_GE(borrowings, 3U);
}

// The very bits, through policies, distributions and servers alike.
TEST(PlbModel, GivesTheseBitsEverywhere) {
  std::uint64_t digest = 0;
  for (const Strategy& s : paper_strategies()) {
    PlbWorkload load;
    load.sessions = 300;
    load.seed = 17;
    const PlbOutcome out = run(load, s);
    for (const double v : {out.all.mean, out.classes[0].median, out.classes[1].p95, out.utilization_cv})
      digest = digest * 0x9E3779B97F4A7C15u + std::bit_cast<std::uint64_t>(v);
    digest += out.events;
  }
  EXPECT_EQ(digest, 651654376335439035U);
}

}  // namespace
}  // namespace sluice::sim
