#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/stats/interval.h"

#include "sim/plb_experiment.h"

namespace sluice::sim {

// Where the policy `proportional`, a dial, does better than PLB, a point. In each configuration the
// strategies "proportional/W" are laid on a line by weight, and on it, run by run (all strategies of a run
// meet the same sessions), the least weight is found with which Premium's median is at most kSameMedian above
// the one that PLB gives it; linear between two weights. What Freemium and all queries have there is set
// beside what they have under PLB.
inline constexpr double kSameMedian = 0.03;
enum class Verdict {
  Better,      // Freemium is quicker there than under PLB; 95% interval
  Worse,       // slower
  Alike,       // the interval holds 0
  OutOfReach,  // in some run no weight of the dial makes Premium so quick
  Reversed,  // PLB makes Premium slower than the least weight does, and Freemium quicker: that is no Premium
};
std::string_view verdict_name(Verdict) noexcept;

struct PlbTrade {
  double sessions = 0, premium_share = 0;
  // Means over runs, relative to round robin: median of each class, mean of all queries.
  double premium = 0, freemium = 0, all = 0;
  double weight = 0;  // the least that gives Premium that median; 0 where none does
  std::optional<stats::Interval>
      freemium_gap;  // of proportional less PLB, relative to PLB; negative is quicker
  std::optional<stats::Interval> all_gap;
  Verdict verdict = Verdict::Alike;
};
// Of the configurations that have 5PLB, 5RR and two weights or more.
std::vector<PlbTrade> trades(const std::vector<PlbRow>&);

Table trade_table(const std::vector<PlbTrade>&);

}  // namespace sluice::sim
