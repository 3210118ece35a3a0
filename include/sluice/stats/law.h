#pragma once

#include <limits>
#include <span>
#include <vector>

#include "sluice/rng.h"

namespace sluice::stats {

// Of sizes, and of means that diverge.
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Laws of positive sizes: service demands, times between arrivals. Drawing, moments and cutoffs use
// portable_math.h and `Rng` alone: bit for bit the same everywhere.

class Law {
 public:
  virtual ~Law() = default;
  // One value. Uses the same count of random numbers each time, so that runs can share a stream of them.
  virtual double draw(Rng&) const noexcept = 0;
  // E[X^j; a < X <= b] for any real j, 0 <= a, b up to infinity; 0 when b <= a; infinity where it diverges.
  virtual double partial_moment(double j, double a, double b) const noexcept = 0;
  // The support: infinity where it has no upper end.
  virtual double lower() const noexcept = 0;
  virtual double upper() const noexcept = 0;

  double moment(double j) const noexcept;
  double mean() const noexcept { return moment(1); }
  double squared_cv() const noexcept;  // C^2 = Var[X] / E[X]^2
};

class ContinuousLaw : public Law {
 public:
  virtual double density(double x) const noexcept = 0;  // x > 0
};

// Bounded Pareto B(k, p, alpha): density c x^(-alpha-1) on [k, p].
class BoundedPareto final : public ContinuousLaw {
 public:
  BoundedPareto(double k, double p, double alpha) noexcept;  // 0 < k < p, alpha > 0
  // The k that gives a mean, 0 < mean < p.
  static BoundedPareto with_mean(double mean, double p, double alpha) noexcept;

  double k() const noexcept { return k_; }
  double p() const noexcept { return p_; }
  double alpha() const noexcept { return alpha_; }
  double quantile(double u) const noexcept;  // u in [0, 1]

  double draw(Rng&) const noexcept override;
  double partial_moment(double j, double a, double b) const noexcept override;
  double lower() const noexcept override { return k_; }
  double upper() const noexcept override { return p_; }
  double density(double x) const noexcept override;

 private:
  double k_, p_, alpha_;
  double mass_;  // 1 - (k/p)^alpha
  double c_;     // alpha k^alpha / mass
};

// A mixture of exponential laws; with one part, the exponential law. Moments of order j <= -1 are infinite.
class Hyperexponential final : public ContinuousLaw {
 public:
  struct Part {
    double probability, mean;
  };
  explicit Hyperexponential(std::vector<Part> parts);  // probabilities > 0 with sum 1, means > 0
  static Hyperexponential exponential(double mean) { return Hyperexponential({{1, mean}}); }
  // Two parts that carry half of the mean each ("balanced means"), C^2 >= 1.
  static Hyperexponential with_mean(double mean, double squared_cv);

  double draw(Rng&) const noexcept override;
  double partial_moment(double j, double a, double b) const noexcept override;
  double lower() const noexcept override { return 0; }
  double upper() const noexcept override;
  double density(double x) const noexcept override;

 private:
  std::vector<Part> parts_;
};

// exp of a normal law with mean mu and standard deviation sigma.
class LogNormal final : public ContinuousLaw {
 public:
  LogNormal(double mu, double sigma) noexcept : mu_(mu), sigma_(sigma) {}  // sigma > 0
  static LogNormal with_mean(double mean, double squared_cv) noexcept;     // both > 0

  double draw(Rng&) const noexcept override;
  double partial_moment(double j, double a, double b) const noexcept override;
  double lower() const noexcept override { return 0; }
  double upper() const noexcept override;
  double density(double x) const noexcept override;

 private:
  double mu_, sigma_;
};

// The law of observed values: each has its share of all weights. One value makes a constant.
class Empirical final : public Law {
 public:
  struct Atom {
    double value, weight;
  };
  explicit Empirical(std::span<const double> values);  // not empty, all > 0 and finite
  explicit Empirical(std::vector<Atom> atoms);         // the same, weights > 0

  std::span<const Atom> atoms() const noexcept { return atoms_; }  // ascending, weights of sum 1

  double draw(Rng&) const noexcept override;  // O(log n)
  // O(log n + values in the interval)
  double partial_moment(double j, double a, double b) const noexcept override;
  double lower() const noexcept override { return atoms_.front().value; }
  double upper() const noexcept override { return atoms_.back().value; }

 private:
  void normalise();

  std::vector<Atom> atoms_;
  std::vector<double> cumulative_;
};

}  // namespace sluice::stats
