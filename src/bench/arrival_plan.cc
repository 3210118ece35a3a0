#include "bench/arrival_plan.h"

#include <cmath>

#include "sluice/rng.h"
#include "sluice/stats/portable_math.h"

#include "base/assert.h"
#include "sim/job_stream.h"

namespace sluice::bench {
namespace {

// Streams of random numbers apart, so that another share leaves the arrivals as they are.
enum Stream : std::uint64_t { kGaps, kClasses, kLifetimes, kHosts, kQueries };

std::vector<std::size_t> dealt_classes(const Arrivals& arrivals, Rng rng) {
  const auto premium = static_cast<std::size_t>(
      std::llround(arrivals.premium_share * static_cast<double>(arrivals.terminals)));
  std::vector<std::size_t> classes(arrivals.terminals, 1);
  for (std::size_t i = 0; i < premium && i < classes.size(); ++i)
    classes[i] = 0;
  shuffle(classes, rng);
  return classes;
}

}  // namespace

std::vector<TerminalPlan> plan_arrivals(const Arrivals& arrivals) {
  SLUICE_ASSERT(arrivals.terminals > 0 && arrivals.duration > 0 && arrivals.hosts > 0);
  SLUICE_ASSERT(arrivals.lifetime_min <= arrivals.lifetime_max);
  const auto stream = [&](Stream which) { return Rng(sim::derived_seed(arrivals.seed, which)); };
  Rng gaps = stream(kGaps), lifetimes = stream(kLifetimes), hosts = stream(kHosts);
  const std::vector<std::size_t> classes = dealt_classes(arrivals, stream(kClasses));
  const std::uint64_t queries = sim::derived_seed(arrivals.seed, kQueries);

  std::vector<TerminalPlan> plan(arrivals.terminals);
  const auto gap = [&] { return -stats::portable::log(1 - gaps.unit()); };
  double at = 0;
  for (std::size_t i = 0; i < plan.size(); ++i) {
    plan[i].arrives = at += gap();
    plan[i].lifetime =
        arrivals.lifetime_min + (arrivals.lifetime_max - arrivals.lifetime_min) * lifetimes.unit();
    plan[i].class_index = classes[i];
    plan[i].host = hosts.below(arrivals.hosts);
    plan[i].seed = sim::derived_seed(queries, i);
  }
  const double whole = at + gap();
  if (whole > 0)
    for (TerminalPlan& terminal : plan)
      terminal.arrives *= arrivals.duration / whole;
  return plan;
}

}  // namespace sluice::bench
