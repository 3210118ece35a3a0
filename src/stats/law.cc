#include "sluice/stats/law.h"

#include <algorithm>
#include <cmath>

#include "sluice/stats/portable_math.h"

#include "base/assert.h"
#include "stats/quadrature.h"

namespace sluice::stats {
double Law::moment(double j) const noexcept {
  return partial_moment(j, 0, kInfinity);
}

double Law::squared_cv() const noexcept {
  const double first = mean();
  return moment(2) / (first * first) - 1;
}

BoundedPareto::BoundedPareto(double k, double p, double alpha) noexcept
    : k_(k),
      p_(p),
      alpha_(alpha),
      mass_(1 - portable::pow(k / p, alpha)),
      c_(alpha * portable::pow(k, alpha) / mass_) {
  SLUICE_ASSERT(k > 0 && p > k && p < kInfinity && alpha > 0);
}

BoundedPareto BoundedPareto::with_mean(double mean, double p, double alpha) noexcept {
  SLUICE_ASSERT(mean > 0 && p > mean && alpha > 0);
  // E[X] grows with k, and k < E[X]. The interval halves in ln k down to the last bit of it.
  double low = portable::log(mean) - 700, high = portable::log(mean);
  for (int i = 0; i < 64; ++i) {
    const double middle = (low + high) / 2;
    (BoundedPareto(portable::exp(middle), p, alpha).mean() < mean ? low : high) = middle;
  }
  return BoundedPareto(portable::exp((low + high) / 2), p, alpha);
}

double BoundedPareto::quantile(double u) const noexcept {
  return std::min(p_, k_ * portable::pow(1 - u * mass_, -1 / alpha_));
}

double BoundedPareto::draw(Rng& rng) const noexcept {
  return quantile(rng.unit());
}

double BoundedPareto::partial_moment(double j, double a, double b) const noexcept {
  const double from = std::max(a, k_), to = std::min(b, p_);
  if (!(to > from)) return 0;
  const double order = j - alpha_, stretch = portable::log(to / from);
  // (to^order - from^order) / order tends to ln(to / from) as the order goes to 0.
  if (std::fabs(order * stretch) < 1e-9) return c_ * portable::pow(from, order) * stretch;
  return c_ * portable::pow(from, order) * (portable::exp(order * stretch) - 1) / order;
}

double BoundedPareto::density(double x) const noexcept {
  return x < k_ || x > p_ ? 0 : c_ * portable::pow(x, -alpha_ - 1);
}

Hyperexponential::Hyperexponential(std::vector<Part> parts) : parts_(std::move(parts)) {
  SLUICE_ASSERT(!parts_.empty());
  double sum = 0;
  for (const Part& part : parts_) {
    SLUICE_ASSERT(part.probability > 0 && part.mean > 0);
    sum += part.probability;
  }
  SLUICE_ASSERT(std::fabs(sum - 1) < 1e-9);
}

Hyperexponential Hyperexponential::with_mean(double mean, double squared_cv) {
  SLUICE_ASSERT(mean > 0 && squared_cv >= 1);
  const double p = (1 + std::sqrt((squared_cv - 1) / (squared_cv + 1))) / 2;
  return Hyperexponential({{p, mean / (2 * p)}, {1 - p, mean / (2 * (1 - p))}});
}

double Hyperexponential::draw(Rng& rng) const noexcept {
  double choice = rng.unit();
  const Part* chosen = &parts_.back();
  for (const Part& part : parts_) {
    if (choice < part.probability) {
      chosen = &part;
      break;
    }
    choice -= part.probability;
  }
  return -chosen->mean * portable::log(1 - rng.unit());
}

namespace {

// E[X^j; X > a] of an exponential law for a whole j >= 0, by parts: G_j = y^j e^-y + j G_(j-1), y = a / mean.
double upper_moment(int j, double mean, double a) noexcept {
  if (a == kInfinity) return 0;
  const double y = a / mean, tail = portable::exp(-y);
  double power = tail, moment = tail, unit = 1;
  for (int i = 1; i <= j; ++i) {
    power *= y;
    moment = power + i * moment;
    unit *= mean;
  }
  return unit * moment;
}

double exponential_partial_moment(double j, double mean, double a, double b) noexcept {
  if (j >= 0 && j <= 8 && j == std::floor(j)) {
    const int order = static_cast<int>(j);
    return std::max(0.0, upper_moment(order, mean, a) - upper_moment(order, mean, b));
  }
  if (a <= 0 && j <= -1) return kInfinity;
  // In t = ln x; below `from` lies less than e^-45 of the value, above 750 means nothing.
  const double from = a > 0 ? portable::log(a) : portable::log(mean) - 45 / (j + 1);
  const double to = portable::log(std::min(b, 750 * mean));
  return integrate(from, to, 0.25,
                   [&](double t) { return portable::exp((j + 1) * t - portable::exp(t) / mean) / mean; });
}

}  // namespace

double Hyperexponential::partial_moment(double j, double a, double b) const noexcept {
  if (!(b > a)) return 0;
  double sum = 0;
  for (const Part& part : parts_)
    sum += part.probability * exponential_partial_moment(j, part.mean, std::max(a, 0.0), b);
  return sum;
}

double Hyperexponential::upper() const noexcept {
  return kInfinity;
}

double Hyperexponential::density(double x) const noexcept {
  double sum = 0;
  for (const Part& part : parts_)
    sum += part.probability / part.mean * portable::exp(-x / part.mean);
  return sum;
}

LogNormal LogNormal::with_mean(double mean, double squared_cv) noexcept {
  SLUICE_ASSERT(mean > 0 && squared_cv > 0);
  const double variance = portable::log(1 + squared_cv);
  return LogNormal(portable::log(mean) - variance / 2, std::sqrt(variance));
}

double LogNormal::draw(Rng& rng) const noexcept {
  const double u = rng.unit() + 0x1.0p-54;  // never 0 or 1
  return portable::exp(mu_ + sigma_ * portable::normal_quantile(u));
}

double LogNormal::partial_moment(double j, double a, double b) const noexcept {
  if (!(b > a)) return 0;
  const auto position = [&](double x) { return (portable::log(x) - mu_) / sigma_ - j * sigma_; };
  const double low = a > 0 ? position(a) : -kInfinity, high = b < kInfinity ? position(b) : kInfinity;
  // The difference of two tails, on the side where they are small.
  const double share =
      low > 0 ? (a > 0 ? portable::normal_cdf(-low) : 1) - (b < kInfinity ? portable::normal_cdf(-high) : 0)
              : (b < kInfinity ? portable::normal_cdf(high) : 1) - (a > 0 ? portable::normal_cdf(low) : 0);
  return portable::exp(j * mu_ + j * j * sigma_ * sigma_ / 2) * std::max(0.0, share);
}

double LogNormal::upper() const noexcept {
  return kInfinity;
}

double LogNormal::density(double x) const noexcept {
  const double z = (portable::log(x) - mu_) / sigma_;
  return portable::exp(-z * z / 2) / (2.50662827463100050242 * sigma_ * x);
}

Empirical::Empirical(std::span<const double> values) {
  atoms_.reserve(values.size());
  for (const double value : values)
    atoms_.push_back({value, 1});
  normalise();
}

Empirical::Empirical(std::vector<Atom> atoms) : atoms_(std::move(atoms)) {
  normalise();
}

void Empirical::normalise() {
  SLUICE_ASSERT(!atoms_.empty());
  std::sort(atoms_.begin(), atoms_.end(), [](const Atom& a, const Atom& b) { return a.value < b.value; });
  double sum = 0;
  for (const Atom& atom : atoms_) {
    SLUICE_ASSERT(atom.value > 0 && atom.value < kInfinity && atom.weight > 0);
    sum += atom.weight;
  }
  double below = 0;
  for (Atom& atom : atoms_) {
    atom.weight /= sum;
    cumulative_.push_back(below += atom.weight);
  }
}

double Empirical::draw(Rng& rng) const noexcept {
  const auto found = std::upper_bound(cumulative_.begin(), cumulative_.end(), rng.unit());
  return found == cumulative_.end() ? atoms_.back().value
                                    : atoms_[static_cast<std::size_t>(found - cumulative_.begin())].value;
}

double Empirical::partial_moment(double j, double a, double b) const noexcept {
  const auto above = [](double x, const Atom& atom) { return x < atom.value; };
  auto at = std::upper_bound(atoms_.begin(), atoms_.end(), a, above);
  double sum = 0;
  for (; at != atoms_.end() && at->value <= b; ++at) {
    if (j == 0)
      sum += at->weight;
    else if (j == 1)
      sum += at->weight * at->value;
    else if (j == 2)
      sum += at->weight * at->value * at->value;
    else if (j == -1)
      sum += at->weight / at->value;
    else
      sum += at->weight * portable::pow(at->value, j);
  }
  return sum;
}

}  // namespace sluice::stats
