#include "sluice/stats/mg1.h"

#include <algorithm>
#include <cmath>

#include "sluice/stats/portable_math.h"

#include "base/assert.h"
#include "stats/quadrature.h"

namespace sluice::stats {
namespace {

constexpr double kPiece = 0.125;  // of ln x

// The sizes that matter, for laws whose support has no end: outside lies less than 1e-15 of the jobs and of
// the second moment.
struct Support {
  double low, high;
};

Support support_of(const ContinuousLaw& law) {
  Support range{law.lower(), law.upper()};
  const double mean = law.mean(), second = law.moment(2);
  if (range.high == kInfinity)
    for (range.high = mean; law.partial_moment(2, range.high, kInfinity) > 1e-15 * second;)
      range.high *= 1.25;
  if (range.low <= 0)
    for (range.low = mean; law.partial_moment(0, 0, range.low) > 1e-15;)
      range.low /= 1.25;
  return range;
}

// rho(x) = lambda E[X; X <= x].
double load_below(const Law& law, double lambda, double x) {
  return lambda * law.partial_moment(1, 0, x);
}

// The time in service of a job of size x under SRPT, with the smaller ones that come between: the integral of
// dt / (1 - rho(t)) from `from` to x.
double residence(const Law& law, double lambda, double from, double x) {
  if (!(x > from)) return 0;
  return integrate(portable::log(from), portable::log(x), kPiece, [&](double t) {
    const double size = portable::exp(t);
    return size / (1 - load_below(law, lambda, size));
  });
}

// E[T(x)], given the SRPT residence of x.
double response(SizeDiscipline discipline, const ContinuousLaw& law, double lambda, double x,
                double srpt_residence) {
  const double left = 1 - load_below(law, lambda, x);
  const double second_below = law.partial_moment(2, 0, x), above = law.partial_moment(0, x, kInfinity);
  switch (discipline) {
    case SizeDiscipline::Srpt:
      return lambda * (second_below + x * x * above) / (2 * left * left) + srpt_residence;
    case SizeDiscipline::Psjf:
      return lambda * second_below / (2 * left * left) + x / left;
    case SizeDiscipline::Sjf:
      return lambda * law.moment(2) / (2 * left * left) + x;
    case SizeDiscipline::Fb: {
      const double left_capped = left - lambda * x * above;  // 1 - lambda E[min(X, x)]
      const double second_capped = second_below + x * x * above;
      return lambda * second_capped / (2 * left_capped * left_capped) + x / left_capped;
    }
  }
  return kInfinity;
}

}  // namespace

JobMoments mg1_fcfs(const Law& law, double lambda) noexcept {
  SLUICE_ASSERT(lambda > 0);
  const double rho = lambda * law.mean();
  if (!(rho < 1)) return {{kInfinity, kInfinity}, kInfinity, kInfinity};
  const double waiting = lambda * law.moment(2) / (2 * (1 - rho));
  const double waiting_square = 2 * waiting * waiting + lambda * law.moment(3) / (3 * (1 - rho));
  const double slowdown = waiting * law.moment(-1);
  return {{waiting, slowdown},
          waiting_square - waiting * waiting,
          slowdown < kInfinity ? waiting_square * law.moment(-2) - slowdown * slowdown : kInfinity};
}

JobMeans mg1_ps(const Law& law, double lambda) noexcept {
  SLUICE_ASSERT(lambda > 0);
  const double rho = lambda * law.mean();
  if (!(rho < 1)) return {kInfinity, kInfinity};
  return {rho * law.mean() / (1 - rho), rho / (1 - rho)};
}

double mg1_response(SizeDiscipline discipline, const ContinuousLaw& law, double lambda, double x) {
  SLUICE_ASSERT(lambda > 0 && x > 0);
  if (!(lambda * law.mean() < 1)) return kInfinity;
  const double low = std::min(x, support_of(law).low);  // below it nothing is smaller: t / (1 - 0)
  return response(discipline, law, lambda, x, low + residence(law, lambda, low, x));
}

JobMeans mg1_size_based(SizeDiscipline discipline, const ContinuousLaw& law, double lambda) {
  SLUICE_ASSERT(lambda > 0);
  if (!(lambda * law.mean() < 1)) return {kInfinity, kInfinity};
  const Support range = support_of(law);
  const double low = portable::log(range.low), high = portable::log(range.high);
  const int pieces = static_cast<int>(std::ceil((high - low) / kPiece));
  const double step = (high - low) / pieces;
  JobMeans means;
  double srpt_residence = range.low;  // up to the piece at hand
  for (int i = 0; i < pieces; ++i) {
    const double from = low + i * step, to = from + step, from_size = portable::exp(from);
    const auto jobs_at = [&](double t, double& x) {
      x = portable::exp(t);
      return law.density(x) * x;
    };
    const auto waiting_at = [&](double x) {
      const double inside =
          discipline == SizeDiscipline::Srpt ? srpt_residence + residence(law, lambda, from_size, x) : 0;
      return response(discipline, law, lambda, x, inside) - x;
    };
    double x = 0;
    means.waiting += gauss_legendre(from, to, [&](double t) {
      const double jobs = jobs_at(t, x);
      return jobs * waiting_at(x);
    });
    means.slowdown += gauss_legendre(from, to, [&](double t) {
      const double jobs = jobs_at(t, x);
      return jobs * waiting_at(x) / x;
    });
    srpt_residence += residence(law, lambda, from_size, portable::exp(to));
  }
  return means;
}

}  // namespace sluice::stats
