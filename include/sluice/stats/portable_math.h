#pragma once

namespace sluice::stats::portable {

// Elementary functions that give the same bits on every machine: additions, multiplications, divisions and
// square roots alone, which IEEE 754 fixes, where a C library's own differ in the last digit from version to
// version and, by fused multiplication, from processor to processor. What decides the course of a simulation
// or a published figure uses these. Relative error below 1e-15 unless said otherwise.

double log(double x) noexcept;            // x > 0 and finite
double exp(double x) noexcept;            // 0 below -700, infinity above 709
double pow(double x, double y) noexcept;  // x > 0; relative error below 1e-15 * (1 + |y log x|)

double normal_cdf(double x) noexcept;  // relative error below 1e-13, in the lower tail too
// The z with normal_cdf(z) = q, for 0 < q < 1. Relative error about 1e-15. Source: Wichura, "Algorithm AS
// 241: The Percentage Points of the Normal Distribution", Applied Statistics 37(3), 1988, PPND16.
double normal_quantile(double q) noexcept;

double log_gamma(double x) noexcept;  // x > 0; absolute error below 1e-12 for x up to 1e4

}  // namespace sluice::stats::portable
