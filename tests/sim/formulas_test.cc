// Simulation against theory. Each test averages independent runs with fixed seeds and asks that the value of
// the formula lies in their interval at kConfidence: with another seed a right program would fail with
// probability 1 - kConfidence, with these it passes always.

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "sluice/stats/comparison.h"
#include "sluice/stats/mg1.h"
#include "sluice/stats/sita.h"

#include "tests/sim/disciplines.h"

namespace sluice::sim {
namespace {

constexpr double kConfidence = 0.999;
constexpr int kRuns = 10;

using Value = std::function<double(const StreamOutcome&)>;
double waiting(const StreamOutcome& out) {
  return out.waiting.mean();
}
double slowdown(const StreamOutcome& out) {
  return out.slowdown.mean();
}

void expect_within(const std::vector<double>& sample, double want, double precision) {
  const stats::Interval got = stats::mean_interval(sample, kConfidence);
  EXPECT_LE(got.low, want) << got.estimate;
  EXPECT_GE(got.high, want) << got.estimate;
  // An interval that is wide says nothing.
  EXPECT_LT((got.high - got.low) / 2, precision * want) << got.estimate;
}

std::vector<StreamOutcome> runs(JobStream stream, const std::function<std::unique_ptr<Server>()>& make) {
  std::vector<StreamOutcome> out;
  for (int i = 0; i < kRuns; ++i) {
    stream.seed = derived_seed(33, static_cast<std::uint64_t>(i));
    out.push_back(run_one(stream, make()));
  }
  return out;
}

std::vector<double> values(const std::vector<StreamOutcome>& outcomes, const Value& value) {
  std::vector<double> sample;
  for (const StreamOutcome& out : outcomes)
    sample.push_back(value(out));
  return sample;
}

const stats::BoundedPareto kSizes = stats::BoundedPareto::with_mean(1, 50, 1.5);

JobStream stream_of(const stats::Law& law, double rho) {
  return {.sizes = law, .lambda = rho / law.mean(), .jobs = 20'000, .warm_up = 2'000};
}

TEST(Formulas, FirstComeFirstServed) {
  const auto out = runs(stream_of(kSizes, 0.7), [] { return discipline("fcfs"); });
  const stats::JobMoments want = stats::mg1_fcfs(kSizes, 0.7);
  expect_within(values(out, waiting), want.mean.waiting, 0.2);
  expect_within(values(out, slowdown), want.mean.slowdown, 0.2);
  expect_within(values(out, [](const StreamOutcome& o) { return o.waiting.population_variance(); }),
                want.waiting_variance, 0.5);
  expect_within(values(out, [](const StreamOutcome& o) { return o.slowdown.population_variance(); }),
                want.slowdown_variance, 0.5);
}

TEST(Formulas, MeanSlowdownOfProcessorSharingIsRhoOverOneMinusRhoForEveryLaw) {
  const auto lognormal = stats::LogNormal::with_mean(1, 2);
  const stats::Empirical two(std::vector<stats::Empirical::Atom>{{0.5, 9}, {5.5, 1}});
  for (const stats::Law* law :
       {static_cast<const stats::Law*>(&kSizes), static_cast<const stats::Law*>(&lognormal),
        static_cast<const stats::Law*>(&two)})
    for (const double rho : {0.5, 0.8}) {
      const auto out = runs(stream_of(*law, rho), [] { return discipline("ps"); });
      expect_within(values(out, slowdown), rho / (1 - rho), 0.15);
    }
}

// A server that shares fairly makes every size wait in proportion.
TEST(Formulas, ProcessorSharingSlowsAllSizesAlike) {
  stats::Running small[kRuns], large[kRuns];
  for (int i = 0; i < kRuns; ++i) {
    JobStream stream = stream_of(kSizes, 0.7);
    stream.seed = derived_seed(34, static_cast<std::uint64_t>(i));
    run_one(stream, discipline("ps"), [&](const Job& job, double waited) {
      (job.size < 0.5 ? small : large)[i].add(waited / job.size);
    });
  }
  std::vector<double> of_small, of_large;
  for (int i = 0; i < kRuns; ++i) {
    of_small.push_back(small[i].mean());
    of_large.push_back(large[i].mean());
  }
  expect_within(of_small, 0.7 / 0.3, 0.2);
  expect_within(of_large, 0.7 / 0.3, 0.2);
}

TEST(Formulas, SizeBasedDisciplines) {
  using stats::SizeDiscipline;
  const std::pair<const char*, SizeDiscipline> cases[] = {
      {"srpt", SizeDiscipline::Srpt}, {"psjf", SizeDiscipline::Psjf}, {"sjf", SizeDiscipline::Sjf}};
  for (const auto& [name, kind] : cases) {
    SCOPED_TRACE(name);
    const auto out = runs(stream_of(kSizes, 0.8), [name = name] { return discipline(name); });
    const stats::JobMeans want = stats::mg1_size_based(kind, kSizes, 0.8);
    expect_within(values(out, waiting), want.waiting, 0.3);
    expect_within(values(out, slowdown), want.slowdown, 0.3);
  }
}

// Cobham, "Priority Assignment in Waiting Line Problems", Operations Research 2, 1954; both forms in
// Kleinrock, "Queueing Systems" II, 1976, sections 3.4 and 3.6. Three ranks of equal share.
TEST(Formulas, Priorities) {
  const double rho = 0.75, second = kSizes.moment(2);
  for (const bool preemptive : {false, true}) {
    std::vector<double> by_rank[3];
    for (int i = 0; i < kRuns; ++i) {
      JobStream stream = stream_of(kSizes, rho);
      stream.ranks = 3;
      stream.seed = derived_seed(35, static_cast<std::uint64_t>(i));
      stats::Running waited[3];
      run_one(stream, discipline(preemptive ? "preemptive priority" : "priority"),
              [&](const Job& job, double waiting_time) { waited[job.rank].add(waiting_time); });
      for (int r = 0; r < 3; ++r)
        by_rank[r].push_back(waited[r].mean());
    }
    for (int r = 0; r < 3; ++r) {
      SCOPED_TRACE(testing::Message() << (preemptive ? "preemptive, rank " : "rank ") << r);
      const double above = 1 - rho * r / 3, with = 1 - rho * (r + 1) / 3;  // 1 - sigma
      const double residual = (preemptive ? rho * (r + 1) / 3 : rho) * second / 2;
      const double want = residual / (above * with) + (preemptive ? 1 / above - 1 : 0);
      expect_within(by_rank[r], want, 0.4);
    }
  }
}

// With exponential sizes four cores are M/M/4, shared or queued for: Erlang's C gives the mean.
TEST(Formulas, ManyCores) {
  const auto exponential = stats::Hyperexponential::exponential(1);
  const double a = 3, rho = a / 4;
  double sum = 0, term = 1;
  for (int n = 0; n < 4; term *= a / ++n)
    sum += term;
  const double erlang_c = term / (1 - rho) / (sum + term / (1 - rho));
  const double want = erlang_c / (4 - a);
  for (const std::size_t active_max : {std::size_t{4}, std::size_t{6}, LimitedServer::kUnlimited}) {
    SCOPED_TRACE(active_max);
    const JobStream stream{.sizes = exponential, .lambda = a, .jobs = 20'000, .warm_up = 2'000};
    const auto out = runs(stream, [=]() -> std::unique_ptr<Server> {
      return std::make_unique<LimitedServer>(LimitedServer::Settings{.cores = 4, .active_max = active_max});
    });
    expect_within(values(out, [](const StreamOutcome& o) { return o.response_sum / 22'000 - 1; }), want, 0.3);
  }
}

TEST(Formulas, SizeIntervals) {
  for (const auto objective : {0, 1}) {
    const double lambda = 4 * 0.7;
    const auto cutoffs =
        objective == 0 ? stats::sita_e_cutoffs(kSizes, 4) : *stats::sita_cutoffs(kSizes, lambda, 4);
    const stats::JobMeans want = stats::analyse_sita(kSizes, lambda, cutoffs).jobs.mean;
    std::vector<double> waited, slowed;
    for (int i = 0; i < kRuns; ++i) {
      std::vector<std::unique_ptr<Server>> hosts;
      for (int h = 0; h < 4; ++h)
        hosts.push_back(discipline("fcfs"));
      SitaDispatcher sita(cutoffs);
      const JobStream stream{.sizes = kSizes,
                             .lambda = lambda,
                             .jobs = 40'000,
                             .warm_up = 4'000,
                             .seed = derived_seed(36, static_cast<std::uint64_t>(i))};
      const StreamOutcome out = run(stream, hosts, sita);
      waited.push_back(out.waiting.mean());
      slowed.push_back(out.slowdown.mean());
    }
    expect_within(waited, want.waiting, 0.2);
    expect_within(slowed, want.slowdown, 0.2);
  }
}

}  // namespace
}  // namespace sluice::sim
