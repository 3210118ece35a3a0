#include "sluice/policy/size_intervals.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "sluice/policy/rng.h"
#include "sluice/stats/law.h"
#include "sluice/stats/sita.h"

namespace sluice::policy {
namespace {

using Weights = std::vector<std::int64_t>;
using Range = SizeIntervals::Range;

// In [0, 1).
double uniform(Rng& rng) {
  return static_cast<double>(rng.below(1ULL << 53)) / static_cast<double>(1ULL << 53);
}

double bounded_pareto(Rng& rng, double k, double p, double alpha) {
  return k * std::pow(1 - uniform(rng) * (1 - std::pow(k / p, alpha)), -1 / alpha);
}

TEST(SizeSteps, PartAPowerOfTwoInFour) {
  EXPECT_EQ(size_step(std::nullopt), kNoSizeStep);
  for (const double nonsense : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity()})
    EXPECT_EQ(size_step(nonsense), kNoSizeStep) << nonsense;
  for (std::size_t step = 0; step < kSizeSteps; ++step) {
    const double begin = size_step_begin(step), end = size_step_begin(step + 1);
    EXPECT_EQ(size_step(begin), static_cast<SizeStep>(step));
    EXPECT_EQ(size_step(std::nextafter(end, 0.0)), static_cast<SizeStep>(step));
    EXPECT_GT(end / begin, 1.14);
    EXPECT_LE(end / begin, 1.25);
  }
  EXPECT_EQ(size_step(1e-300), 0);
  EXPECT_EQ(size_step(1e300), static_cast<SizeStep>(kSizeSteps - 1));
}

TEST(SizeIntervals, KnowNothingOfTooFew) {
  SizeIntervals sizes;
  for (std::uint64_t i = 0; i + 1 < SizeIntervals::kKnownFrom; ++i)
    sizes.add(1, 0);
  sizes.add(-1, 0);
  EXPECT_FALSE(sizes.known());
  sizes.add(1, 0);
  EXPECT_TRUE(sizes.known());
}

TEST(SizeIntervals, GiveEachHostTheSameWork) {
  Rng rng(1);
  SizeIntervals sizes;
  for (int i = 0; i < 20'000; ++i)
    sizes.add(bounded_pareto(rng, 0.001, 10, 1.1), 0.5);
  const Weights four(4, 1);
  const auto rows = sizes.intervals(four);
  ASSERT_EQ(rows.size(), 4U);
  const auto exact = stats::sita_e_cutoffs(stats::BoundedPareto(0.001, 10, 1.1), 4);
  EXPECT_EQ(rows[0].from, 0);
  EXPECT_TRUE(std::isinf(rows[3].to));
  double jobs = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    // A step at a bound goes to one side, and of so few sizes the largest weigh much.
    EXPECT_NEAR(rows[i].work_share, 0.25, 0.08) << i;
    jobs += rows[i].job_share;
    if (i == 3) continue;
    EXPECT_NEAR(std::log(rows[i].to), std::log(exact[i]), 0.5) << i;
    EXPECT_EQ(rows[i].to, rows[i + 1].from);
    EXPECT_GT(rows[i].job_share, rows[i + 1].job_share);
  }
  EXPECT_NEAR(jobs, 1, 1e-9);
}

// What the ranges come to when jobs are given to the least loaded host of theirs: the work, per host.
TEST(SizeIntervals, BalanceTheWorkAsItComes) {
  Rng rng(2);
  SizeIntervals sizes;
  const Weights hosts(4, 1);
  std::vector<double> work(4, 0.0);
  for (int i = 0; i < 60'000; ++i) {
    const double size = bounded_pareto(rng, 0.001, 1, 1.1);
    sizes.add(size, 0.5);
    if (!sizes.known()) continue;
    const Range range = sizes.range(size_step(size), hosts);
    std::size_t best = range.first;
    for (std::size_t host = range.first; host <= range.last; ++host)
      if (work[host] < work[best]) best = host;
    work[best] += size;
  }
  const double all = std::accumulate(work.begin(), work.end(), 0.0);
  for (const double one : work)
    EXPECT_NEAR(one / all, 0.25, 0.05);
}

// With many hosts a step of sizes is much of what one of them has: none may be near saturation for that.
TEST(SizeIntervals, LeaveNoneOfManyHostsWithMuchMoreThanItsShare) {
  Rng rng(4);
  SizeIntervals sizes;
  const Weights hosts(8, 1);
  std::vector<double> work(8, 0.0);
  for (int i = 0; i < 60'000; ++i) {
    const double size = bounded_pareto(rng, 0.001, 0.1, 1.5);
    sizes.add(size, 0.5);
    if (i < 10'000) continue;
    const Range range = sizes.range(size_step(size), hosts);
    const auto first = work.begin() + range.first;
    *std::min_element(first, work.begin() + range.last + 1) += size;
  }
  const double all = std::accumulate(work.begin(), work.end(), 0.0);
  EXPECT_LT(*std::max_element(work.begin(), work.end()) / all, 1.1 / 8);
}

TEST(SizeIntervals, ShareASizeThatIsMostOfTheWork) {
  SizeIntervals sizes;
  for (int i = 0; i < 1000; ++i)
    sizes.add(0.1, 0.5);
  EXPECT_EQ(sizes.range(size_step(0.1), Weights(4, 1)), (Range{0, 3})) << "one size alone is everybody's";
  SizeIntervals two;
  for (int i = 0; i < 1000; ++i)
    two.add(i % 10 == 0 ? 0.9 : 0.1, 0.5);  // half of the work each
  EXPECT_EQ(two.range(size_step(0.1), Weights(4, 1)), (Range{0, 1}));
  EXPECT_EQ(two.range(size_step(0.9), Weights(4, 1)), (Range{2, 3}));
  EXPECT_EQ(two.range(size_step(0.9), Weights(2, 1)), (Range{1, 1}));
  EXPECT_EQ(two.range(size_step(0.001), Weights(2, 1)), (Range{0, 0})) << "never seen";
  EXPECT_EQ(two.range(size_step(100), Weights(2, 1)), (Range{1, 1}));
  EXPECT_EQ(two.range(size_step(0.9), Weights(1, 1)), (Range{0, 0}));
  SizeIntervals uneven;
  for (int i = 0; i < 1000; ++i)
    uneven.add(i % 10 == 0 ? 1.1 : 0.1, 0.5);  // 0.45 and 0.55 of the work
  EXPECT_EQ(uneven.range(size_step(0.1), Weights(4, 1)), (Range{0, 1}));
  EXPECT_EQ(uneven.range(size_step(1.1), Weights(4, 1)), (Range{1, 3})) << "the second host has room";
}

TEST(SizeIntervals, GiveHeavierHostsMoreWork) {
  Rng rng(3);
  SizeIntervals sizes;
  for (int i = 0; i < 20'000; ++i)
    sizes.add(bounded_pareto(rng, 0.001, 1, 1.1), 0.5);
  const auto rows = sizes.intervals(Weights{1, 3});
  EXPECT_NEAR(rows[0].work_share, 0.25, 0.05);
  EXPECT_NEAR(rows[1].work_share, 0.75, 0.05);
}

TEST(SizeIntervals, MoveOnlyForEnoughWork) {
  SizeIntervals sizes;
  const Weights two(2, 1);
  const auto add = [&](int count, double small_share) {
    for (int i = 0; i < count; ++i)
      sizes.add(i % 100 < small_share * 100 ? 0.1 : 0.8, 0.5);
  };
  add(5000, 0.9);
  const double before = sizes.intervals(two)[0].to;
  add(5000, 0.89);
  EXPECT_EQ(sizes.intervals(two)[0].to, before) << "a little drift";
  add(20'000, 0.5);
  EXPECT_NE(sizes.intervals(two)[0].to, before);
}

TEST(SizeIntervals, FindTheLeastSlowdownOfTheirLaw) {
  Rng rng(4);
  SizeIntervals sizes;
  sizes.set_rule(IntervalRule::LeastSlowdown);
  std::vector<stats::Empirical::Atom> atoms;
  double sum = 0;
  for (int i = 0; i < 1 << 14; ++i) {
    const double size = bounded_pareto(rng, 0.001, 1, 1.5);
    sizes.add(size, 0.7);
    if (i < (1 << 14) - 4096) continue;
    atoms.push_back({size, 1});
    sum += size;
  }
  const stats::Empirical law(atoms);
  const double lambda = 0.7 * 2 / (sum / 4096);
  const auto slowdown = [&](double cutoff) {
    const std::vector<double> cutoffs = {cutoff};
    return stats::analyse_sita(law, lambda, cutoffs).jobs.mean.slowdown;
  };
  const double found = slowdown(sizes.intervals(Weights(2, 1))[0].to);
  double best = std::numeric_limits<double>::infinity();
  for (double cutoff = 0.0011; cutoff < 0.9; cutoff *= 1.02)
    best = std::min(best, slowdown(cutoff));
  EXPECT_LT(found, best * 1.25);
  sizes.set_rule(IntervalRule::EqualLoad);
  EXPECT_LT(found, slowdown(sizes.intervals(Weights(2, 1))[0].to) * 1.05);
}

class SearchApart : public testing::Test {
 protected:
  SearchApart() {
    for (SizeIntervals* const sizes : {&at_once, &apart})
      sizes->set_rule(IntervalRule::LeastSlowdown);
    apart.set_search(SizeIntervals::Search::Apart);
  }
  void add(int count, double alpha) {
    for (int i = 0; i < count; ++i) {
      const double size = bounded_pareto(rng, 0.001, 100, alpha);
      for (SizeIntervals* const sizes : {&at_once, &apart, &equal})
        sizes->add(size, 0.7);
    }
  }
  static double cutoff(const SizeIntervals& sizes) { return sizes.intervals(Weights(2, 1))[0].to; }
  bool answer() {
    const auto question = apart.take_question();
    return question && apart.take_answer(*question, SizeIntervals::answer(*question));
  }

  Rng rng{6};
  SizeIntervals at_once, apart, equal;
};

TEST_F(SearchApart, FindsWhatIsFoundAtOnceAndDividesEquallyUntilThen) {
  add(256, 1.1);
  EXPECT_FALSE(apart.has_question()) << "nobody has asked yet";
  EXPECT_EQ(cutoff(apart), cutoff(equal));
  ASSERT_NE(cutoff(apart), cutoff(at_once));
  EXPECT_TRUE(apart.has_question());
  EXPECT_TRUE(answer());
  EXPECT_FALSE(apart.has_question());
  EXPECT_EQ(cutoff(apart), cutoff(at_once));
  EXPECT_FALSE(at_once.has_question());

  const double before = cutoff(apart);
  add(4096, 0.5);
  EXPECT_EQ(cutoff(apart), before) << "as it was, until there is another answer";
  EXPECT_TRUE(answer());
  EXPECT_NE(cutoff(apart), before);
}

TEST_F(SearchApart, TakesNoAnswerTwiceNorForWhatIsNoLongerAsked) {
  add(256, 1.1);
  (void)cutoff(apart);
  const auto question = apart.take_question();
  ASSERT_TRUE(question);
  EXPECT_FALSE(apart.take_question());
  const SizeIntervals::Answer found = SizeIntervals::answer(*question);
  SizeIntervals::Question of_others = *question;
  of_others.weights = Weights(3, 1);
  EXPECT_FALSE(apart.take_answer(of_others, SizeIntervals::answer(of_others)));
  EXPECT_EQ(cutoff(apart), cutoff(equal));
  EXPECT_TRUE(apart.take_answer(*question, found));
  EXPECT_FALSE(apart.take_answer(*question, found));
  apart.set_rule(IntervalRule::EqualLoad);
  (void)cutoff(apart);
  EXPECT_FALSE(apart.take_answer(*question, found));
  EXPECT_EQ(cutoff(apart), cutoff(equal));
}

TEST(SizeIntervals, WorkForAnyLawAndNumberOfHosts) {
  Rng rng(5);
  for (const IntervalRule rule : {IntervalRule::EqualLoad, IntervalRule::LeastSlowdown})
    for (int law = 0; law < 20; ++law) {
      SizeIntervals sizes;
      sizes.set_rule(rule);
      const std::uint64_t kinds = 1 + rng.below(8);
      std::vector<double> values;
      for (std::uint64_t i = 0; i < kinds; ++i)
        values.push_back(std::ldexp(1 + uniform(rng), static_cast<int>(rng.below(60)) - 39));
      for (int i = 0; i < 500; ++i)
        sizes.add(values[rng.below(values.size())], uniform(rng));
      for (const std::size_t hosts : {1U, 2U, 3U, 7U, 33U, 40U}) {
        const Weights weights(hosts, 1);
        std::uint32_t last = 0;
        for (std::size_t step = 0; step < kSizeSteps; ++step) {
          const Range range = sizes.range(static_cast<SizeStep>(step), weights);
          ASSERT_LE(range.first, range.last);
          ASSERT_LT(range.last, hosts);
          ASSERT_GE(range.last, last) << "larger sizes do not go to hosts for smaller ones";
          last = range.first;
        }
        const auto rows = sizes.intervals(weights);
        double work = 0;
        for (const auto& row : rows) {
          EXPECT_LE(row.from, row.to);
          work += row.work_share;
        }
        EXPECT_NEAR(work, 1, 1e-9);
      }
    }
}

TEST(SizeIntervals, StayRightHoweverLongTheyAreFed) {
  SizeIntervals sizes;
  for (int i = 0; i < 2'000'000; ++i)
    sizes.add(i % 2 == 0 ? 0.1 : 0.4, 0.25);
  EXPECT_NEAR(sizes.utilization(), 0.25, 1e-9);
  const auto rows = sizes.intervals(Weights(2, 1));
  EXPECT_NEAR(rows[0].job_share + rows[1].job_share, 1, 1e-9);
}

}  // namespace
}  // namespace sluice::policy
