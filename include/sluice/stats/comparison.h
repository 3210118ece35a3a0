#pragma once

#include <optional>
#include <span>
#include <vector>

#include "sluice/stats/interval.h"

namespace sluice::stats {

// Student's t. Errors below 1e-10. degrees > 0, also not whole.
double student_t_two_sided(double t, double degrees) noexcept;  // P(|T| >= |t|)
double student_t_quantile(double q, double degrees) noexcept;   // 0 < q < 1

// 0 of none.
double mean(std::span<const double> values) noexcept;

// The mean with its interval by Student's t: for means of independent runs. At least 2 values.
Interval mean_interval(std::span<const double> sample, double confidence_level = 0.95);

// Welch's two-sample t-test, two-sided: do the laws behind x and y have the same mean, whatever their
// variances? Source: Welch, "The Generalization of 'Student's' Problem when Several Different Population
// Variances are Involved", Biometrika 34, 1947; degrees of freedom after Welch and Satterthwaite.
struct Welch {
  double t = 0;  // positive when x has the greater mean
  double degrees = 0;
  double p = 1;
};
// nullopt when a sample has fewer than 2 values or both are constant.
std::optional<Welch> welch(std::span<const double> x, std::span<const double> y);

// Hedges' g: (mean x - mean y) / pooled standard deviation, times J = 1 - 3 / (4 (n1 + n2) - 9) against the
// bias of small samples. Source: Hedges, "Distribution Theory for Glass's Estimator of Effect Size", Journal
// of Educational Statistics 6(2), 1981. nullopt as welch().
std::optional<double> hedges_g(std::span<const double> x, std::span<const double> y);

// Holm's correction for many tests: p-values that may be compared with one level, in the order given. Source:
// Holm, "A Simple Sequentially Rejective Multiple Test Procedure", Scandinavian Journal of Statistics 6,
// 1979.
std::vector<double> holm(std::span<const double> p);

// Standard deviation over mean, the values taken as the whole population (divided by n): CV(u) of replicas.
// Not empty; 0 when the mean is 0.
double coefficient_of_variation(std::span<const double> values) noexcept;

}  // namespace sluice::stats
