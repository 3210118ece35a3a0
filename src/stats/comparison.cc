#include "sluice/stats/comparison.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sluice/stats/portable_math.h"
#include "sluice/stats/running.h"

#include "base/assert.h"

namespace sluice::stats {
namespace {

Running running(std::span<const double> values) {
  Running out;
  for (const double value : values)
    out.add(value);
  return out;
}

// The continued fraction of the incomplete beta function, by Lentz's method. Source: "NIST Handbook of
// Mathematical Functions", 2010, 8.17.22. Quick for x < (a + 1) / (a + b + 2).
double beta_fraction(double x, double a, double b) noexcept {
  const auto not_zero = [](double v) { return std::fabs(v) < 1e-300 ? 1e-300 : v; };
  double c = 1, d = 1 / not_zero(1 - (a + b) * x / (a + 1)), fraction = d;
  for (int m = 1; m <= 2000; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / not_zero(1 + even * d);
    c = not_zero(1 + even / c);
    fraction *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / not_zero(1 + odd * d);
    c = not_zero(1 + odd / c);
    fraction *= d * c;
    if (std::fabs(d * c - 1) < 1e-15) break;
  }
  return fraction;
}

// I_x(a, b), the regularised incomplete beta function; `rest` is 1 - x.
double incomplete_beta(double x, double rest, double a, double b) noexcept {
  if (x <= 0) return 0;
  if (rest <= 0) return 1;
  const double front = portable::exp(portable::log_gamma(a + b) - portable::log_gamma(a) -
                                     portable::log_gamma(b) + a * portable::log(x) + b * portable::log(rest));
  if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(x, a, b) / a;
  return 1 - front * beta_fraction(rest, b, a) / b;
}

}  // namespace

double mean(std::span<const double> values) noexcept {
  if (values.empty()) return 0;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double student_t_two_sided(double t, double degrees) noexcept {
  SLUICE_ASSERT(degrees > 0);
  if (!std::isfinite(t)) return 0;
  const double sum = degrees + t * t;
  return incomplete_beta(degrees / sum, t * t / sum, degrees / 2, 0.5);
}

double student_t_quantile(double q, double degrees) noexcept {
  SLUICE_ASSERT(q > 0 && q < 1);
  if (q == 0.5) return 0;
  const double tails = 2 * std::min(q, 1 - q);
  double low = 0, high = 1;
  while (student_t_two_sided(high, degrees) > tails && high < 1e12)
    high *= 2;
  for (int i = 0; i < 100; ++i) {
    const double middle = (low + high) / 2;
    (student_t_two_sided(middle, degrees) > tails ? low : high) = middle;
  }
  return q < 0.5 ? -high : high;
}

Interval mean_interval(std::span<const double> sample, double confidence_level) {
  SLUICE_ASSERT(sample.size() >= 2 && confidence_level > 0 && confidence_level < 1);
  const Running all = running(sample);
  const auto n = static_cast<double>(sample.size());
  const double half =
      student_t_quantile((1 + confidence_level) / 2, n - 1) * std::sqrt(all.sample_variance() / n);
  return {all.mean(), all.mean() - half, all.mean() + half};
}

std::optional<Welch> welch(std::span<const double> x, std::span<const double> y) {
  if (x.size() < 2 || y.size() < 2) return std::nullopt;
  const Running of_x = running(x), of_y = running(y);
  const auto nx = static_cast<double>(x.size()), ny = static_cast<double>(y.size());
  const double vx = of_x.sample_variance() / nx, vy = of_y.sample_variance() / ny;
  if (!(vx + vy > 0)) return std::nullopt;
  const double t = (of_x.mean() - of_y.mean()) / std::sqrt(vx + vy);
  const double degrees = (vx + vy) * (vx + vy) / (vx * vx / (nx - 1) + vy * vy / (ny - 1));
  return Welch{t, degrees, student_t_two_sided(t, degrees)};
}

std::optional<double> hedges_g(std::span<const double> x, std::span<const double> y) {
  if (x.size() < 2 || y.size() < 2) return std::nullopt;
  const Running of_x = running(x), of_y = running(y);
  const auto nx = static_cast<double>(x.size()), ny = static_cast<double>(y.size());
  const double pooled =
      ((nx - 1) * of_x.sample_variance() + (ny - 1) * of_y.sample_variance()) / (nx + ny - 2);
  if (!(pooled > 0)) return std::nullopt;
  return (1 - 3 / (4 * (nx + ny) - 9)) * (of_x.mean() - of_y.mean()) / std::sqrt(pooled);
}

std::vector<double> holm(std::span<const double> p) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return p[a] < p[b]; });
  std::vector<double> adjusted(p.size());
  double greatest = 0;
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    greatest = std::max(greatest, static_cast<double>(p.size() - rank) * p[order[rank]]);
    adjusted[order[rank]] = std::min(1.0, greatest);
  }
  return adjusted;
}

double coefficient_of_variation(std::span<const double> values) noexcept {
  SLUICE_ASSERT(!values.empty());
  Running all;
  for (const double value : values)
    all.add(value);
  return all.mean() != 0 ? std::sqrt(all.population_variance()) / all.mean() : 0;
}

}  // namespace sluice::stats
