#pragma once

#include <cmath>

namespace sluice::stats {

// The integral of f over [a, b] by Gauss-Legendre's rule of 8 points: exact for polynomials up to degree 15.
template <class F>
double gauss_legendre(double a, double b, F&& f) {
  constexpr double kNodes[] = {0.18343464249564980, 0.52553240991632899, 0.79666647741362674,
                               0.96028985649753623};
  constexpr double kWeights[] = {0.36268378337836198, 0.31370664587788729, 0.22238103445337447,
                                 0.10122853629037626};
  const double centre = (a + b) / 2, half = (b - a) / 2;
  double sum = 0;
  for (int i = 0; i < 4; ++i)
    sum += kWeights[i] * (f(centre - half * kNodes[i]) + f(centre + half * kNodes[i]));
  return sum * half;
}

// The same over many pieces no longer than `piece`.
template <class F>
double integrate(double a, double b, double piece, F&& f) {
  if (!(b > a)) return 0;
  const int count = static_cast<int>(std::ceil((b - a) / piece));
  const double step = (b - a) / count;
  double sum = 0;
  for (int i = 0; i < count; ++i)
    sum += gauss_legendre(a + i * step, a + (i + 1) * step, f);
  return sum;
}

}  // namespace sluice::stats
