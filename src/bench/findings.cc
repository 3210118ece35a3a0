#include "bench/findings.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "sluice/stats/comparison.h"
#include "sluice/stats/portable_math.h"

#include "sim/table.h"

namespace sluice::bench {
namespace {

using Place = std::tuple<double, double, std::string>;  // T, share, strategy

Place place_of(const RunKey& key) {
  return {static_cast<double>(key.terminals), key.premium_share, key.strategy};
}

auto comparable(const RunKey& k) {
  return std::make_tuple(k.workload, k.scale, k.budget, k.mode, k.duration, k.warm_up, k.lifetime_min,
                         k.lifetime_max, k.think);
}

std::string title_of(const RunKey& key) {
  std::string title = key.workload + " at scale " + key.scale;
  if (key.budget > 0) title += ", " + std::to_string(key.budget) + " replicas";
  title += key.mode == PoolMode::Transaction ? ", transaction mode" : ", session mode";
  title += ", " + sim::digits(key.duration) + " s";
  if (key.think != "0") title += ", think time " + key.think + " s";
  return title;
}

void add_values(sim::PlbRow& row, const RunInfo& run) {
  const Summary& summary = run.summary;
  for (std::size_t c = 0; c < kClassCount; ++c) {
    if (summary.classes[c].queries == 0) continue;
    row.mean[c].push_back(summary.classes[c].mean);
    row.median[c].push_back(summary.classes[c].median);
    row.p95[c].push_back(summary.classes[c].p95);
  }
  row.all_mean.push_back(summary.all.mean);
  row.all_median.push_back(summary.all.median);
  row.utilization.push_back(run.utilization());
  row.utilization_cv.push_back(run.utilization_cv());
}

// A class that is not in every run of the row is in none.
void drop_incomplete(sim::PlbRow& row) {
  for (std::size_t c = 0; c < kClassCount; ++c)
    if (row.median[c].size() != row.all_mean.size()) {
      row.mean[c].clear();
      row.median[c].clear();
      row.p95[c].clear();
    }
}

Group group_of(std::vector<const RunInfo*> runs) {
  Group group;
  group.title = title_of(runs.front()->key);
  group.class_names = runs.front()->class_names;
  group.has_utilization = true;
  std::stable_sort(runs.begin(), runs.end(), [](const RunInfo* a, const RunInfo* b) {
    return std::make_pair(place_of(a->key), a->key.repetition) <
           std::make_pair(place_of(b->key), b->key.repetition);
  });
  for (const RunInfo* run : runs) {
    const auto [terminals, share, strategy] = place_of(run->key);
    if (group.rows.empty() || group.rows.back().sessions != terminals ||
        group.rows.back().premium_share != share || group.rows.back().strategy != strategy) {
      sim::PlbRow& row = group.rows.emplace_back();
      row.sessions = terminals;
      row.premium_share = share;
      row.strategy = strategy;
      group.repetitions.emplace_back();
    }
    add_values(group.rows.back(), *run);
    group.repetitions.back().push_back(run->key.repetition);
    group.has_utilization = group.has_utilization && run->has_utilization();
    group.errors += run->summary.all.errors;
    group.late += run->summary.late.queries;
  }
  for (sim::PlbRow& row : group.rows)
    drop_incomplete(row);
  return group;
}

std::size_t row_index(const Group& group, const sim::PlbComparison& at, const std::string& strategy) {
  std::size_t i = 0;
  while (i < group.rows.size() &&
         !(group.rows[i].sessions == at.sessions && group.rows[i].premium_share == at.premium_share &&
           group.rows[i].strategy == strategy))
    ++i;
  return i;
}

const std::vector<double>& values_of(const sim::PlbRow& row, const sim::PlbComparison& at) {
  return at.metric == sim::Metric::Median ? row.median[at.which] : row.p95[at.which];
}

// Of x over y less 1, by runs of the same repetition.
std::optional<stats::Interval> paired_change(const std::vector<double>& x,
                                             const std::vector<std::size_t>& x_runs,
                                             const std::vector<double>& y,
                                             const std::vector<std::size_t>& y_runs) {
  std::map<std::size_t, double> base;
  for (std::size_t i = 0; i < y.size(); ++i)
    base[y_runs[i]] = y[i];
  std::vector<double> ratios;
  for (std::size_t i = 0; i < x.size(); ++i)
    if (const auto found = base.find(x_runs[i]); found != base.end() && x[i] > 0 && found->second > 0)
      ratios.push_back(stats::portable::log(x[i] / found->second));
  if (ratios.size() < 2) return std::nullopt;
  const stats::Interval of_logs = stats::mean_interval(ratios);
  const auto change = [](double log_ratio) { return stats::portable::exp(log_ratio) - 1; };
  return stats::Interval{change(of_logs.estimate), change(of_logs.low), change(of_logs.high)};
}

}  // namespace

std::vector<Group> groups_of(const std::vector<RunInfo>& runs) {
  std::map<decltype(comparable(RunKey{})), std::vector<const RunInfo*>> parts;
  for (const RunInfo& run : runs)
    parts[comparable(run.key)].push_back(&run);
  std::vector<Group> groups;
  for (const auto& [key, part] : parts)
    groups.push_back(group_of(part));
  return groups;
}

std::vector<Finding> findings_of(const Group& group, const std::string& baseline) {
  std::set<std::string> strategies;
  for (const sim::PlbRow& row : group.rows)
    strategies.insert(row.strategy);
  strategies.erase(baseline);
  // What has no value for a class has nothing to compare.
  std::vector<Finding> findings;
  for (const std::string& strategy : strategies)
    for (const sim::PlbComparison& test : sim::compare(group.rows, strategy, baseline)) {
      const std::size_t a = row_index(group, test, strategy), b = row_index(group, test, baseline);
      const auto& x = values_of(group.rows[a], test);
      const auto& y = values_of(group.rows[b], test);
      if (x.empty() || y.empty()) continue;
      const bool repeated = x.size() > 1 && y.size() > 1;
      findings.push_back({strategy, test, repeated, stats::median_difference(x, y),
                          paired_change(x, group.repetitions[a], y, group.repetitions[b])});
    }
  return findings;
}

}  // namespace sluice::bench
