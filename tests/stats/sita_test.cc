#include "sluice/stats/sita.h"

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sluice/stats/size_sketch.h"

namespace sluice::stats {
namespace {

#define EXPECT_DIGITS(got, want) EXPECT_NEAR(got, want, 6e-5 * std::fabs(want))

struct Line {
  std::vector<std::string> cells;
  double number(std::size_t column) const { return std::stod(cells[column]); }
  std::vector<double> list(std::size_t column) const {
    std::istringstream in(cells[column]);
    std::vector<double> values;
    for (double value = 0; in >> value;)
      values.push_back(value);
    return values;
  }
};

std::vector<Line> reference_lines() {
  std::ifstream file(std::string(std::getenv("SLUICE_SOURCE_DIR")) + "/tests/golden/sita_tables.csv");
  std::vector<Line> lines;
  for (std::string text; std::getline(file, text);) {
    Line line;
    std::istringstream in(text);
    for (std::string cell; std::getline(in, cell, ',');) {
      std::erase(cell, '"');
      line.cells.push_back(cell);
    }
    lines.push_back(line);
  }
  lines.erase(lines.begin());  // the header
  return lines;
}

// 45 combinations of hosts, alpha and load; mean size 3000, p = 1e10.
TEST(Sita, HasTheReferenceValues) {
  ASSERT_NE(std::getenv("SLUICE_SOURCE_DIR"), nullptr) << "run the test through ctest";
  const std::vector<Line> lines = reference_lines();
  ASSERT_EQ(lines.size(), 45U);
  for (const Line& line : lines) {
    const auto hosts = static_cast<std::size_t>(line.number(0));
    const double alpha = line.number(1), rho = line.number(2);
    SCOPED_TRACE(testing::Message() << "h " << hosts << " alpha " << alpha << " rho " << rho);
    const auto law = BoundedPareto::with_mean(3000, 1e10, alpha);
    const double per_host = rho / 3000, lambda = per_host * static_cast<double>(hosts);
    const JobMoments random = mg1_fcfs(law, per_host);
    EXPECT_DIGITS(random.mean.waiting, line.number(4));
    EXPECT_DIGITS(random.mean.slowdown, line.number(5));
    EXPECT_DIGITS(std::sqrt(random.slowdown_variance), line.number(6));
    const auto sita_e = analyse_sita(law, lambda, sita_e_cutoffs(law, hosts)).jobs;
    EXPECT_DIGITS(sita_e.mean.waiting, line.number(9));
    EXPECT_DIGITS(sita_e.mean.slowdown, line.number(10));
    EXPECT_DIGITS(std::sqrt(sita_e.slowdown_variance), line.number(11));
    const auto cutoffs = sita_cutoffs(law, lambda, hosts);
    ASSERT_TRUE(cutoffs);
    const SitaAnalysis sita_v = analyse_sita(law, lambda, *cutoffs);
    EXPECT_DIGITS(sita_v.jobs.mean.slowdown, line.number(13));
    EXPECT_NEAR(sita_v.jobs.mean.waiting / line.number(12), 1, 1e-3);  // flat there: the optimum is of S
    const auto loads = line.list(18);
    ASSERT_EQ(loads.size(), hosts);
    for (std::size_t i = 0; i < hosts; ++i)
      EXPECT_NEAR(sita_v.hosts[i].utilization, loads[i], 2e-4) << i;
    const auto opt = sita_cutoffs(law, lambda, hosts, {.objective = SitaObjective::Waiting});
    ASSERT_TRUE(opt);
    EXPECT_DIGITS(analyse_sita(law, lambda, *opt).jobs.mean.waiting, line.number(15));
  }
}

TEST(Sita, SimulatableSetHasTheReferenceValues) {
  struct Row {
    double alpha;
    std::size_t hosts;
    double e_waiting, e_slowdown, v_waiting, v_slowdown, w_waiting, w_slowdown;
    std::vector<double> cutoffs;
  };
  const Row rows[] = {{1.1, 2, 5781.0, 2.3940, 7461.9, 1.9410, 5737.4, 2.5928, {6132.42}},
                      {1.1, 4, 3985.7, 1.4103, 5945.5, 1.0344, 3982.6, 1.4471, {1943.20, 6132.42, 22472.3}},
                      {1.5, 2, 5707.4, 1.8215, 5940.2, 1.8092, 5404.1, 2.0134, {3654.22}},
                      {1.5, 4, 4051.8, 1.2859, 4873.1, 1.1565, 3997.2, 1.3661, {1852.68, 3654.22, 10301.8}},
                      {1.5,
                       8,
                       3638.0,
                       1.1937,
                       4774.4,
                       1.0083,
                       3632.0,
                       1.2177,
                       {1415.67, 1852.68, 2528.33, 3654.22, 5741.4, 10301.8, 23615.2}}};
  for (const Row& row : rows) {
    SCOPED_TRACE(testing::Message() << row.alpha << ' ' << row.hosts);
    const auto law = BoundedPareto::with_mean(3000, 1e5, row.alpha);
    const double lambda = 0.7 / 3000 * static_cast<double>(row.hosts);
    const auto cutoffs = sita_e_cutoffs(law, row.hosts);
    ASSERT_EQ(cutoffs.size(), row.cutoffs.size());
    for (std::size_t i = 0; i < cutoffs.size(); ++i)
      EXPECT_DIGITS(cutoffs[i], row.cutoffs[i]);
    const JobMeans e = analyse_sita(law, lambda, cutoffs).jobs.mean;
    EXPECT_DIGITS(e.waiting, row.e_waiting);
    EXPECT_DIGITS(e.slowdown, row.e_slowdown);
    const JobMeans v = analyse_sita(law, lambda, *sita_cutoffs(law, lambda, row.hosts)).jobs.mean;
    EXPECT_NEAR(v.waiting / row.v_waiting, 1, 1e-3);
    EXPECT_DIGITS(v.slowdown, row.v_slowdown);
    const JobMeans w =
        analyse_sita(law, lambda,
                     *sita_cutoffs(law, lambda, row.hosts, {.objective = SitaObjective::Waiting}))
            .jobs.mean;
    EXPECT_DIGITS(w.waiting, row.w_waiting);
    EXPECT_NEAR(w.slowdown / row.w_slowdown, 1, 1e-3);
  }
}

// alpha = 1/2, rho = 1/2, two hosts: the heaviest tail that the papers show.
TEST(Sita, HeaviestTail) {
  const auto law = BoundedPareto::with_mean(3000, 1e10, 0.5);
  const double lambda = 2 * 0.5 / 3000;
  const auto even = sita_e_cutoffs(law, 2);
  EXPECT_DIGITS(even[0], 2.5e9);
  EXPECT_DIGITS(analyse_sita(law, lambda, even).jobs.mean.waiting, 4.16668e8);
  const auto opt = sita_cutoffs(law, lambda, 2, {.objective = SitaObjective::Waiting});
  const SitaAnalysis best = analyse_sita(law, lambda, *opt);
  EXPECT_DIGITS(best.jobs.mean.waiting, 394812);
  EXPECT_NEAR(best.hosts[0].utilization, .04497, 1e-5);
  const auto capped = sita_cutoffs(law, lambda, 2, {.utilization_max = 0.9});
  EXPECT_LT(analyse_sita(law, lambda, *capped).hosts[1].utilization, 0.9);
}

// With two hosts the slowdown's optimum has the small jobs on the lighter host up to an alpha of about 1.09
// (p = 1e10). Beyond it even loads are the best ascending ones.
TEST(Sita, AscendingLoadsAreTheOptimumOrEvenOnesWithTwoHosts) {
  for (const double alpha : {1.0, 1.5}) {
    const auto law = BoundedPareto::with_mean(3000, 1e10, alpha);
    const double lambda = 2 * 0.5 / 3000;
    const auto found = sita_cutoffs(law, lambda, 2, {.loads = SitaLoads::Ascending});
    ASSERT_TRUE(found);
    const double want = alpha < 1.09 ? sita_cutoffs(law, lambda, 2)->front() : sita_e_cutoffs(law, 2).front();
    EXPECT_NEAR((*found)[0] / want, 1, 1e-4) << alpha;
  }
}

TEST(Sita, AscendingLoadsLieBetweenEvenOnesAndTheOptimum) {
  const auto law = BoundedPareto::with_mean(3000, 1e6, 1.3);
  const double lambda = 4 * 0.7 / 3000;
  const auto found = sita_cutoffs(law, lambda, 4, {.loads = SitaLoads::Ascending, .grid = 200});
  ASSERT_TRUE(found);
  const SitaAnalysis ascending = analyse_sita(law, lambda, *found);
  for (std::size_t i = 1; i < 4; ++i)
    EXPECT_GE(ascending.hosts[i].utilization, ascending.hosts[i - 1].utilization * (1 - 1e-9)) << i;
  EXPECT_LE(ascending.jobs.mean.slowdown,
            analyse_sita(law, lambda, sita_e_cutoffs(law, 4)).jobs.mean.slowdown * (1 + 1e-9));
  EXPECT_GE(ascending.jobs.mean.slowdown,
            analyse_sita(law, lambda, *sita_cutoffs(law, lambda, 4)).jobs.mean.slowdown * (1 - 1e-9));
  EXPECT_FALSE(sita_cutoffs(law, 4.1 / 3000, 4, {.loads = SitaLoads::Ascending, .grid = 50}));
}

TEST(Sita, EvenCutoffsScaleWithRhoOverOneMinusRho) {
  const auto law = BoundedPareto::with_mean(3000, 1e6, 1.3);
  const auto cutoffs = sita_e_cutoffs(law, 4);
  const auto scaled = [&](double rho) {
    return analyse_sita(law, 4 * rho / 3000, cutoffs).jobs.mean.slowdown * (1 - rho) / rho;
  };
  EXPECT_NEAR(scaled(0.2), scaled(0.9), 1e-9 * scaled(0.9));
}

TEST(Sita, EvenCutoffsShareTheWorkOfEveryLaw) {
  const auto lognormal = LogNormal::with_mean(5, 9);
  const auto mixture = Hyperexponential::with_mean(5, 9);
  for (const Law* law : {static_cast<const Law*>(&lognormal), static_cast<const Law*>(&mixture)}) {
    const SitaAnalysis analysis = analyse_sita(*law, 0.5, sita_e_cutoffs(*law, 5));
    for (const SitaHost& host : analysis.hosts)
      EXPECT_NEAR(host.utilization, 0.5, 1e-9);
  }
}

TEST(Sita, AJobOfTheCutoffsSizeBelongsToTheSmallerHost) {
  const std::vector<double> cutoffs{2, 4};
  EXPECT_EQ(sita_host(cutoffs, 1), 0U);
  EXPECT_EQ(sita_host(cutoffs, 2), 0U);
  EXPECT_EQ(sita_host(cutoffs, 3), 1U);
  EXPECT_EQ(sita_host(cutoffs, 5), 2U);
  EXPECT_EQ(sita_host({}, 5), 0U);
}

TEST(Sita, WithoutCapacityThereAreNoCutoffs) {
  const auto law = BoundedPareto::with_mean(3000, 1e6, 1.3);
  EXPECT_FALSE(sita_cutoffs(law, 2.1 / 3000, 2));
  EXPECT_FALSE(sita_cutoffs(law, 1.9 / 3000, 2, {.utilization_max = 0.9}));
  EXPECT_EQ(analyse_sita(law, 2.1 / 3000, sita_e_cutoffs(law, 2)).jobs.mean.waiting, kInfinity);
}

TEST(Sita, FewerValuesThanHostsLeaveHostsWithoutJobs) {
  const Empirical law(std::vector<Empirical::Atom>{{1, 1}, {9, 1}});
  const auto even = sita_e_cutoffs(law, 4);
  EXPECT_EQ(even, (std::vector<double>{1, 1, 9}));
  const auto best = sita_cutoffs(law, 0.1, 4);
  ASSERT_TRUE(best);
  EXPECT_EQ(best->size(), 3U);
  EXPECT_LT(analyse_sita(law, 0.1, *best).jobs.mean.slowdown, analyse_sita(law, 0.1, {}).jobs.mean.slowdown);
}

// What the router will do: it sees sizes one by one and keeps a sketch of them. 200,000 of a law whose
// largest sizes are not rarer than that.
TEST(Sita, CutoffsFromAStreamComeNearThoseOfItsLaw) {
  const auto law = BoundedPareto::with_mean(3, 100, 1.5);
  SizeSketch sketch;
  Rng rng(7);
  for (int i = 0; i < 200'000; ++i)
    sketch.add(law.draw(rng));
  const auto seen = sketch.law();
  ASSERT_TRUE(seen);
  const double lambda = 4 * 0.7 / 3;
  const SitaAnalysis even = analyse_sita(law, lambda, sita_e_cutoffs(*seen, 4));
  for (const SitaHost& host : even.hosts)
    EXPECT_NEAR(host.utilization, 0.7, 0.03);
  const double best = analyse_sita(law, lambda, *sita_cutoffs(law, lambda, 4)).jobs.mean.slowdown;
  const double found = analyse_sita(law, lambda, *sita_cutoffs(*seen, lambda, 4)).jobs.mean.slowdown;
  EXPECT_GE(found, best * (1 - 1e-9));
  EXPECT_LT(found, best * 1.01);
}

}  // namespace
}  // namespace sluice::stats
