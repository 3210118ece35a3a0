#include "sluice/stats/portable_math.h"

#include <cmath>
#include <limits>

namespace sluice::stats::portable {
namespace {

// ln 2 in two parts: the first has 33 significant bits, so that its product with an exponent is exact.
constexpr double kLn2High = 0x1.62e42feep-1;
constexpr double kLn2Low = 0x1.a39ef35793c76p-33;
constexpr double kSqrtTwoPi = 2.50662827463100050242;

template <std::size_t N>
double polynomial(const double (&coefficients)[N], double x) noexcept {  // constant term first
  double sum = coefficients[N - 1];
  for (std::size_t i = N - 1; i-- > 0;)
    sum = sum * x + coefficients[i];
  return sum;
}

// P(Z > x) / density(x) for x >= 3, by the continued fraction 1/(x + 1/(x + 2/(x + 3/(x + ...)))).
double mills_ratio(double x) noexcept {
  double tail = x;
  for (int i = 120; i >= 1; --i)
    tail = x + i / tail;
  return 1 / tail;
}

}  // namespace

double log(double x) noexcept {
  int exponent = 0;
  double mantissa = std::frexp(x, &exponent);  // in [1/2, 1)
  if (mantissa < 0.70710678118654752) {
    mantissa *= 2;
    --exponent;
  }
  // log m = 2 artanh(s) = 2 s (1 + s^2/3 + s^4/5 + ...) with s = (m - 1) / (m + 1), |s| < 0.172.
  const double s = (mantissa - 1) / (mantissa + 1), square = s * s;
  double series = 0;
  for (int n = 12; n >= 1; --n)
    series = square * (1.0 / (2 * n + 1) + series);
  return exponent * kLn2High + (2 * s + (2 * s * series + exponent * kLn2Low));
}

double exp(double x) noexcept {
  if (x < -700) return 0;
  if (x > 709) return std::numeric_limits<double>::infinity();
  const double power = std::floor(x * 1.44269504088896340736 + 0.5);
  const double rest = (x - power * kLn2High) - power * kLn2Low;  // |rest| <= ln(2) / 2
  double series = 0;
  for (int n = 14; n >= 1; --n)
    series = (1 + series) * rest / n;
  return std::ldexp(1 + series, static_cast<int>(power));
}

double pow(double x, double y) noexcept {
  return exp(y * log(x));
}

double normal_cdf(double x) noexcept {
  const double density = exp(-x * x / 2) / kSqrtTwoPi;
  if (x <= -3) return density * mills_ratio(-x);
  if (x >= 3) return 1 - density * mills_ratio(x);
  // Phi(x) = 1/2 + density(x) (x + x^3/3 + x^5/(3*5) + ...)
  double term = x, sum = x;
  for (int n = 3; std::fabs(term) > 1e-18 * std::fabs(sum); n += 2) {
    term *= x * x / n;
    sum += term;
  }
  return 0.5 + density * sum;
}

double normal_quantile(double q) noexcept {
  constexpr double kA[] = {3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3,
                           1.3731693765509461125e4, 4.5921953931549871457e4, 6.7265770927008700853e4,
                           3.3430575583588128105e4, 2.5090809287301226727e3};
  constexpr double kB[] = {1.0,
                           4.2313330701600911252e1,
                           6.8718700749205790830e2,
                           5.3941960214247511077e3,
                           2.1213794301586595867e4,
                           3.9307895800092710610e4,
                           2.8729085735721942674e4,
                           5.2264952788528545610e3};
  constexpr double kC[] = {1.42343711074968357734e0,  4.63033784615654529590e0, 5.76949722146069140550e0,
                           3.64784832476320460504e0,  1.27045825245236838258e0, 2.41780725177450611770e-1,
                           2.27238449892691845833e-2, 7.74545014278341407640e-4};
  constexpr double kD[] = {1.0,
                           2.05319162663775882187e0,
                           1.67638483018380384940e0,
                           6.89767334985100004550e-1,
                           1.48103976427480074590e-1,
                           1.51986665636164571966e-2,
                           5.47593808499534494600e-4,
                           1.05075007164441684324e-9};
  constexpr double kE[] = {6.65790464350110377720e0,  5.46378491116411436990e0,  1.78482653991729133580e0,
                           2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
                           2.71155556874348757815e-5, 2.01033439929228813265e-7};
  constexpr double kF[] = {1.0,
                           5.99832206555887937690e-1,
                           1.36929880922735805310e-1,
                           1.48753612908506148525e-2,
                           7.86869131145613259100e-4,
                           1.84631831751005468180e-5,
                           1.42151175831644588870e-7,
                           2.04426310338993978564e-15};
  const double centred = q - 0.5;
  if (std::fabs(centred) <= 0.425) {
    const double r = 0.180625 - centred * centred;
    return centred * polynomial(kA, r) / polynomial(kB, r);
  }
  const double r = std::sqrt(-log(centred < 0 ? q : 1 - q));
  const double z = r <= 5 ? polynomial(kC, r - 1.6) / polynomial(kD, r - 1.6)
                          : polynomial(kE, r - 5) / polynomial(kF, r - 5);
  return centred < 0 ? -z : z;
}

// Stirling's series at x + 10, and back by Gamma(x + 1) = x Gamma(x).
double log_gamma(double x) noexcept {
  double product = 1;
  double at = x;
  for (; at < x + 10; at += 1)
    product *= at;
  constexpr double kStirling[] = {1.0 / 12, -1.0 / 360, 1.0 / 1260, -1.0 / 1680, 1.0 / 1188};
  const double inverse = 1 / at;
  return (at - 0.5) * log(at) - at + log(kSqrtTwoPi) + inverse * polynomial(kStirling, inverse * inverse) -
         log(product);
}

}  // namespace sluice::stats::portable
