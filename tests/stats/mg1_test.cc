#include "sluice/stats/mg1.h"

#include <cmath>

#include <gtest/gtest.h>

namespace sluice::stats {
namespace {

// To 4 significant digits, which the references have.
#define EXPECT_DIGITS(got, want) EXPECT_NEAR(got, want, 6e-5 * std::fabs(want))

struct Row {
  double alpha, rho, ps, srpt, srpt_slowdown, psjf, psjf_slowdown, fb, fb_slowdown;
};
// Mean response times and mean slowdowns, mean size 3000, p = 1e10.
const Row kRows[] = {{1.1, 0.5, 6000, 4166.0, .07047, 4247.0, .07181, 4512.0, .1643},
                     {1.1, 0.8, 15000, 6082.6, .1225, 6327.3, .1248, 7206.2, .2950},
                     {1.1, 0.9, 30000, 7802.4, .1422, 8236.1, .1448, 9928.7, .3465},
                     {1.1, 0.95, 60000, 9776.2, .1525, 10481, .1554, 13590, .3741},
                     {1.5, 0.8, 15000, 6306.6, .4129, 6813.1, .4444, 9272.6, 1.224},
                     {1.5, 0.9, 30000, 8254.9, .5258, 9035.5, .5649, 13333, 1.646}};

TEST(Mg1, SizeBasedDisciplinesHaveTheReferenceValues) {
  for (const Row& row : kRows) {
    SCOPED_TRACE(testing::Message() << row.alpha << ' ' << row.rho);
    const auto law = BoundedPareto::with_mean(3000, 1e10, row.alpha);
    const double lambda = row.rho / 3000;
    const auto check = [&](SizeDiscipline discipline, double response, double slowdown) {
      const JobMeans got = mg1_size_based(discipline, law, lambda);
      EXPECT_DIGITS(got.waiting + 3000, response);
      EXPECT_NEAR(got.slowdown, slowdown, 6e-4 * slowdown);  // printed with 4 digits at most
    };
    check(SizeDiscipline::Srpt, row.srpt, row.srpt_slowdown);
    check(SizeDiscipline::Psjf, row.psjf, row.psjf_slowdown);
    check(SizeDiscipline::Fb, row.fb, row.fb_slowdown);
    const JobMeans ps = mg1_ps(law, lambda);
    EXPECT_DIGITS(ps.waiting + 3000, row.ps);
    EXPECT_DIGITS(ps.slowdown, row.rho / (1 - row.rho));
  }
}

TEST(Mg1, TheLargestJobPaysLittleUnderSrpt) {
  const double want[][3] = {{1.1, 0.5, 1.978},  {1.1, 0.8, 4.837}, {1.1, 0.9, 9.542},
                            {1.1, 0.95, 19.45}, {1.5, 0.8, 4.997}, {1.5, 0.9, 9.987}};
  for (const auto& [alpha, rho, stretch] : want) {
    const auto law = BoundedPareto::with_mean(3000, 1e10, alpha);
    EXPECT_NEAR(mg1_response(SizeDiscipline::Srpt, law, rho / 3000, 1e10) / 1e10, stretch, 6e-4 * stretch)
        << alpha << ' ' << rho;
  }
}

TEST(Mg1, OneServerOfTheSimulatableSet) {
  const auto law = BoundedPareto::with_mean(3000, 1e5, 1.5);
  const double lambda = 0.7 / 3000;
  const auto response = [&](SizeDiscipline d) { return mg1_size_based(d, law, lambda).waiting + 3000; };
  EXPECT_DIGITS(law.k(), 1116.85);
  EXPECT_DIGITS(response(SizeDiscipline::Srpt), 5400.3);
  EXPECT_DIGITS(response(SizeDiscipline::Psjf), 5867.8);
  EXPECT_DIGITS(response(SizeDiscipline::Fb), 8127.1);
  EXPECT_DIGITS(response(SizeDiscipline::Sjf), 9648.1);
  EXPECT_DIGITS(mg1_fcfs(law, lambda).mean.waiting + 3000, 15329);
}

// E[W] = rho / (1 - rho) E[X] for M/M/1, half of it for M/D/1.
TEST(Mg1, TextbookCases) {
  const auto exponential = Hyperexponential::exponential(2);
  const JobMoments mm1 = mg1_fcfs(exponential, 0.4);
  EXPECT_DOUBLE_EQ(mm1.mean.waiting, 8);
  EXPECT_NEAR(mm1.waiting_variance, 96, 1e-9);  // of W in M/M/1: rho (2 - rho) / (mu - lambda)^2
  EXPECT_EQ(mm1.mean.slowdown, kInfinity);      // E[1/X] of an exponential law
  EXPECT_EQ(mm1.slowdown_variance, kInfinity);
  const Empirical constant(std::vector<Empirical::Atom>{{2, 1}});
  const JobMoments md1 = mg1_fcfs(constant, 0.4);
  EXPECT_DOUBLE_EQ(md1.mean.waiting, 4);
  EXPECT_DOUBLE_EQ(md1.mean.slowdown, 2);
  // FB with exponential sizes, which have no memory, is as good as PS: E[T] = 2 / (1 - 0.8).
  EXPECT_NEAR(mg1_size_based(SizeDiscipline::Fb, exponential, 0.4).waiting, 8, 1e-4);
}

// Knowing the remaining size beats knowing the size, and both beat knowing nothing.
TEST(Mg1, KnowingMoreOfSizesIsBetter) {
  const auto law = Hyperexponential::exponential(1);
  const double srpt = mg1_size_based(SizeDiscipline::Srpt, law, 0.8).waiting + 1;
  const double psjf = mg1_size_based(SizeDiscipline::Psjf, law, 0.8).waiting + 1;
  EXPECT_LT(srpt, psjf);
  EXPECT_LT(psjf, 5);  // PS and FB
}

TEST(Mg1, NothingIsFiniteWithoutStability) {
  const auto law = BoundedPareto::with_mean(3000, 1e5, 1.5);
  for (const double rho : {1.0, 1.5}) {
    EXPECT_EQ(mg1_fcfs(law, rho * 1.0000001 / 3000).mean.waiting, kInfinity);
    EXPECT_EQ(mg1_ps(law, rho * 1.0000001 / 3000).slowdown, kInfinity);
    EXPECT_EQ(mg1_size_based(SizeDiscipline::Srpt, law, rho * 1.0000001 / 3000).waiting, kInfinity);
    EXPECT_EQ(mg1_response(SizeDiscipline::Fb, law, rho * 1.0000001 / 3000, 5000), kInfinity);
  }
}

}  // namespace
}  // namespace sluice::stats
