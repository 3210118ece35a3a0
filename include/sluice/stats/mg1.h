#pragma once

#include "sluice/stats/law.h"

namespace sluice::stats {

// One server of speed 1 with Poisson arrivals. X is a job's size, the time it takes alone; waiting W =
// response - X, slowdown S = W / X, at least 0; means are over jobs. Sources: Kleinrock, "Queueing Systems" I
// and II, 1975 and 1976; Harchol-Balter, "Performance Modeling and Design of Computer Systems", 2013,
// chapters 23 and 30 to 33; symbols as there, rho = lambda E[X] the utilization. Shape:  lambda > 0. All
// results are infinite when rho >= 1, or where a moment they need is.

struct JobMeans {
  double waiting = 0, slowdown = 0;
};

struct JobMoments {
  JobMeans mean;
  double waiting_variance = 0, slowdown_variance = 0;
};

// First come, first served: Pollaczek-Khinchine and Takacs' second moment; W does not depend on the own X.
JobMoments mg1_fcfs(const Law&, double lambda) noexcept;

// Processor sharing: whatever the law, E[S] = rho / (1 - rho) for every size.
JobMeans mg1_ps(const Law&, double lambda) noexcept;

enum class SizeDiscipline {
  Srpt,  // shortest remaining time first, preemptive
  Psjf,  // shortest size first, preemptive
  Sjf,   // shortest size first, not preemptive
  Fb,    // least attained service first (foreground-background): needs no sizes
};
// By quadrature over the density: 6 digits and more for the laws of law.h.
JobMeans mg1_size_based(SizeDiscipline, const ContinuousLaw&, double lambda);
// E[T(x)], the mean response time of the jobs of size x.
double mg1_response(SizeDiscipline, const ContinuousLaw&, double lambda, double x);

}  // namespace sluice::stats
