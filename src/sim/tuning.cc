#include "sim/tuning.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>
#include <utility>

#include "sluice/stats/comparison.h"

#include "base/assert.h"
#include "decide/config_line.h"
#include "sim/what_if.h"

namespace sluice::sim {
namespace {

constexpr std::size_t kSplitsMax = 40;

// Open guests of a class at the busiest moment.
std::vector<std::int64_t> peaks(const RecordedTrace& trace) {
  std::vector<std::int64_t> now(trace.config.classes.size()), peak = now;
  std::vector<std::pair<double, std::int64_t>> edges;  // + 1 + class, - 1 - class
  for (const RecordedGuest& guest : trace.guests) {
    const auto which = static_cast<std::int64_t>(guest.session_class) + 1;
    double end = guest.at + guest.waited + guest.tail;
    for (const RecordedQuery& q : guest.queries)
      end += q.pause + q.response;
    edges.emplace_back(guest.at + guest.waited, which);
    edges.emplace_back(end, -which);
  }
  std::sort(edges.begin(), edges.end());
  for (const auto& [at, which] : edges) {
    auto& count = now[static_cast<std::size_t>(std::abs(which) - 1)];
    count += which > 0 ? 1 : -1;
    auto& most = peak[static_cast<std::size_t>(std::abs(which) - 1)];
    most = std::max(most, count);
  }
  return peak;
}

// Ways to give each of so many classes one replica or more, and to have none left. As a double: exact as long
// as it matters, and without overflow.
double ways(std::int64_t replicas, std::size_t classes) {
  if (replicas < static_cast<std::int64_t>(classes)) return 0;
  double count = 1;
  for (std::size_t i = 1; i < classes; ++i)
    count = count * (static_cast<double>(replicas) - static_cast<double>(i)) / static_cast<double>(i);
  return count;
}

// The one at that place in lexical order.
std::vector<std::int64_t> split_at(double place, std::int64_t replicas, std::size_t classes) {
  std::vector<std::int64_t> out;
  for (; classes > 1; --classes) {
    std::int64_t count = 1;
    for (; replicas - count > static_cast<std::int64_t>(classes) - 1; ++count) {
      const double here = ways(replicas - count, classes - 1);
      if (place < here) break;
      place -= here;
    }
    out.push_back(count);
    replicas -= count;
  }
  out.push_back(replicas);
  return out;
}

bool leaves_none(const std::vector<std::int64_t>& split, std::size_t replicas) {
  std::int64_t sum = 0;
  for (const std::int64_t count : split)
    sum += count;
  return sum == static_cast<std::int64_t>(replicas);
}

// Each class weighs `step` times the one below it.
void set_weights(policy::PoolConfig& config, double step) {
  double weight = 1;
  for (auto c = config.classes.rbegin(); c != config.classes.rend(); ++c, weight *= step)
    c->weight = Weight::nearest(weight);
}

void describe(ReplayPlan& plan) {
  const policy::PoolConfig& config = plan.config;
  plan.name = policy::policy_name(config.policy);
  for (const policy::ClassParams& c : config.classes) {
    if (config.policy == policy::PolicyKind::Proportional) plan.name += " " + c.weight.to_string();
    if (config.policy == policy::PolicyKind::Dedicated) plan.name += " " + std::to_string(c.target);
    if (config.policy == policy::PolicyKind::Plb)
      plan.name += " " + std::to_string(c.target) + "/" + std::to_string(c.saturation) + "/" +
                   c.return_ratio.to_string();
  }
}

ReplayPlan plan_with(const RecordedTrace& trace, const TunePlan& tune, policy::PolicyKind kind) {
  ReplayPlan plan;
  plan.config = trace.config;
  plan.config.policy = kind;
  drop_unused_order(plan.config);
  plan.queue = trace.queue;
  plan.cores = tune.cores;
  plan.load = tune.load;
  return plan;
}

// One step from where a plan is, in each direction that its policy has.
std::vector<ReplayPlan> neighbours(const ReplayPlan& plan) {
  std::vector<ReplayPlan> out;
  const auto with = [&](auto change) {
    out.push_back(plan);
    change(out.back().config);
  };
  const bool plb = plan.config.policy == policy::PolicyKind::Plb;
  for (std::size_t c = 0; c < plan.config.classes.size(); ++c) {
    if (plan.config.policy == policy::PolicyKind::Proportional && c + 1 < plan.config.classes.size())
      for (const double factor : {0.87, 1.15})
        with([&](policy::PoolConfig& config) {
          config.classes[c].weight = Weight::nearest(config.classes[c].weight.value() * factor);
        });
    if (!plb) continue;
    for (const double factor : {0.75, 1.33})
      with([&](policy::PoolConfig& config) {
        auto& theta = config.classes[c].saturation;
        const auto moved = static_cast<std::int64_t>(std::llround(static_cast<double>(theta) * factor));
        theta = std::max<std::int64_t>(1, moved == theta ? theta + (factor > 1 ? 1 : -1) : moved);
      });
    for (const char* ratio : {"0.30", "0.50", "0.70", "0.90"})
      with([&](policy::PoolConfig& config) { config.classes[c].return_ratio = *Ratio::parse(ratio); });
  }
  for (ReplayPlan& each : out)
    describe(each);
  return out;
}

std::vector<double> prices_of(std::size_t classes, double prefer) {
  std::vector<double> prices(classes);
  double price = 1, sum = 0;
  for (auto p = prices.rbegin(); p != prices.rend(); ++p, price *= prefer)
    sum += * p = price;
  for (double& p : prices)
    p /= sum;
  return prices;
}

// Classes without queries in the recording cost nothing. A plan that refuses guests is as bad as can be.
void judge(Tuned& tuned, const ReplayOutcome& base, const std::vector<double>& prices) {
  std::vector<double> by_slice;
  double sum = 0;
  tuned.score = 0;
  for (std::size_t c = 0; c < prices.size(); ++c) {
    const ReplayClass &was = base.classes[c], &is = tuned.outcome.classes[c];
    if (!(was.mean > 0)) continue;
    sum += prices[c];
    tuned.score += prices[c] * is.mean / was.mean;
  }
  if (sum > 0) tuned.score /= sum;
  if (tuned.outcome.refused > base.refused) tuned.score = HUGE_VAL;
  for (std::size_t s = 0; s < kReplaySlices; ++s) {
    double score = 0;
    for (std::size_t c = 0; c < prices.size(); ++c) {
      const ReplayClass &was = base.classes[c], &is = tuned.outcome.classes[c];
      if (!(was.mean > 0)) continue;
      if (was.slice_means.size() != kReplaySlices || is.slice_means.size() != kReplaySlices) return;
      score += prices[c] / sum * is.slice_means[s] / was.slice_means[s];
    }
    by_slice.push_back(score);
  }
  tuned.by_part = std::move(by_slice);
}

// The best of many is the luckiest, too: the more were tried, the wider is each interval, so that all of them
// hold at once. Source: Bonferroni's inequality.
void add_intervals(std::vector<Tuned>& all) {
  constexpr double kDoubt = 0.05;
  const double level = 1 - kDoubt / static_cast<double>(std::max<std::size_t>(1, all.size() - 1));
  for (Tuned& each : all)
    if (each.by_part.size() > 1) each.interval = stats::mean_interval(each.by_part, level);
}

}  // namespace

// Of all replicas, and of all but one.
TuningSplits tuning_splits(const policy::PoolConfig& config) {
  const auto replicas = static_cast<std::int64_t>(config.replicas.size());
  const std::size_t classes = config.classes.size();
  const double whole = ways(replicas, classes);
  TuningSplits out;
  out.all = whole + ways(replicas - 1, classes);
  const auto count = static_cast<std::size_t>(std::min(out.all, static_cast<double>(kSplitsMax)));
  for (std::size_t i = 0; i < count; ++i) {
    const double place = std::floor(static_cast<double>(i) * out.all / static_cast<double>(count));
    out.tried.push_back(place < whole ? split_at(place, replicas, classes)
                                      : split_at(place - whole, replicas - 1, classes));
  }
  return out;
}

std::vector<ReplayPlan> tuning_grid(const RecordedTrace& trace, const TunePlan& tune) {
  std::vector<ReplayPlan> out;
  const std::vector<std::vector<std::int64_t>> splits = tuning_splits(trace.config).tried;
  for (const auto kind : {policy::PolicyKind::LeastLoaded, policy::PolicyKind::RoundRobin})
    out.push_back(plan_with(trace, tune, kind));
  if (trace.config.classes.size() > 1)
    for (const double step : {1.0, 1.25, 1.5, 2.0, 2.5, 3.0, 4.0, 6.0, 8.0}) {
      out.push_back(plan_with(trace, tune, policy::PolicyKind::Proportional));
      set_weights(out.back().config, step);
    }
  for (const auto& split : splits) {
    if (!leaves_none(split, trace.config.replicas.size())) continue;
    out.push_back(plan_with(trace, tune, policy::PolicyKind::Dedicated));
    apply_split(out.back().config, split);
  }
  // A class is saturated on a replica with this part of what it would have if its busiest moment were spread
  // over all.
  const std::vector<std::int64_t> peak = peaks(trace);
  for (const auto& split : splits)
    for (const double part : {0.5, 1.0, 2.0})
      for (const char* ratio : {"0.60", "0.80"}) {
        ReplayPlan& plan = out.emplace_back(plan_with(trace, tune, policy::PolicyKind::Plb));
        apply_split(plan.config, split);
        for (std::size_t c = 0; c < plan.config.classes.size(); ++c) {
          policy::ClassParams& params = plan.config.classes[c];
          const double even = static_cast<double>(peak[c]) / static_cast<double>(plan.config.replicas.size());
          params.saturation = std::max<std::int64_t>(1, std::llround(even * part * tune.load));
          params.return_ratio = *Ratio::parse(ratio);
          params.floor = c == 0 ? 0 : std::min<std::int64_t>(1, params.target);
        }
      }
  for (ReplayPlan& plan : out)
    describe(plan);
  return out;
}

std::vector<Tuned> tune(const RecordedTrace& trace, const Demands& demands, const TunePlan& plan,
                        const RunAll& run) {
  SLUICE_ASSERT(plan.prefer > 0);
  const std::vector<double> prices = prices_of(trace.config.classes.size(), plan.prefer);
  std::vector<Tuned> all;
  std::set<std::string> tried;  // configurations, as text
  const auto try_all = [&](const std::vector<ReplayPlan>& plans) {
    const std::size_t from = all.size();
    for (const ReplayPlan& each : plans)
      if (!policy::problem_of(each.config) && tried.insert(decide::config_line(each.config)).second)
        all.push_back({each, {}, 0, {}, std::nullopt});
    run(all.size() - from,
        [&](std::size_t i) { all[from + i].outcome = replay(trace, demands, all[from + i].plan); });
    for (std::size_t i = from; i < all.size(); ++i)
      judge(all[i], all.front().outcome, prices);
  };
  ReplayPlan recorded = plan_with(trace, plan, trace.config.policy);
  describe(recorded);
  recorded.name = "as recorded: " + recorded.name;
  try_all({recorded});
  try_all(tuning_grid(trace, plan));
  for (std::size_t round = 0; round < plan.rounds; ++round) {
    std::vector<ReplayPlan> next;
    for (const auto kind : {policy::PolicyKind::Plb, policy::PolicyKind::Proportional}) {
      const Tuned* best = nullptr;
      for (const Tuned& each : all)
        if (each.plan.config.policy == kind && (best == nullptr || each.score < best->score)) best = &each;
      if (best == nullptr) continue;
      const auto around = neighbours(best->plan);
      next.insert(next.end(), around.begin(), around.end());
    }
    const std::size_t before = all.size();
    try_all(next);
    if (all.size() == before) break;
  }
  add_intervals(all);
  std::stable_sort(all.begin() + 1, all.end(),
                   [](const Tuned& a, const Tuned& b) { return a.score < b.score; });
  return all;
}

Table tuning_table(const std::vector<Tuned>& tuned, std::size_t shown) {
  std::vector<std::string> header = {"rank", "score", "95% from", "to", "policy"};
  const auto& classes = tuned.front().outcome.classes;
  for (std::size_t c = 0; c + 1 < classes.size(); ++c)
    for (const char* what : {" mean ms", " p95 ms"})
      header.push_back(classes[c].name + what);
  Table table(header);
  for (std::size_t i = 0; i < std::min(shown + 1, tuned.size()); ++i) {
    const Tuned& t = tuned[i];
    std::vector<std::string> cells = {i == 0 ? "" : std::to_string(i), digits(t.score, 3),
                                      t.interval ? digits(t.interval->low, 3) : "",
                                      t.interval ? digits(t.interval->high, 3) : "", t.plan.name};
    for (std::size_t c = 0; c + 1 < classes.size(); ++c)
      for (const double v : {t.outcome.classes[c].mean, t.outcome.classes[c].p95})
        cells.push_back(digits(v * 1e3));
    table.add(cells);
  }
  return table;
}

}  // namespace sluice::sim
