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

// What has to be alike, each with a name and its value in words.
struct Condition {
  const char* name;
  std::string value;
  bool in_title = false;  // title_of() says it anyway
};

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words)
    text += (text.empty() ? "" : ", ") + word;
  return text;
}

std::vector<Condition> conditions_of(const RunInfo& run) {
  const RunKey& k = run.key;
  const auto seconds = [](double value) { return sim::digits(value, 8) + " s"; };
  return {{"workload", k.workload, true},
          {"scale", k.scale, true},
          {"replicas", std::to_string(k.budget), true},
          {"mode", k.mode == PoolMode::Transaction ? "transaction" : "session", true},
          {"duration", seconds(k.duration), true},
          {"think time", k.think, true},
          {"digest of the workload", k.digest},
          {"seed", std::to_string(k.seed)},
          {"replica asked", k.ask_replica == AskReplica::PerQuery ? "per query" : "per session"},
          {"warm-up", seconds(k.warm_up)},
          {"lifetime", sim::digits(k.lifetime_min, 8) + " to " + seconds(k.lifetime_max)},
          {"query timeout", seconds(k.query_timeout)},
          {"connect timeout", seconds(k.connect_timeout)},
          {"drain", seconds(k.drain)},
          {"hosts", k.hosts.empty() ? "none" : joined(k.hosts)},
          {"classes", run.class_names[0] + " and " + run.class_names[1]}};
}

std::vector<std::string> values_of(const std::vector<Condition>& conditions) {
  std::vector<std::string> values;
  for (const Condition& condition : conditions)
    values.push_back(condition.value);
  return values;
}

// The values of each condition among the runs.
std::vector<std::set<std::string>> values_among(const std::vector<RunInfo>& runs) {
  std::vector<std::set<std::string>> all;
  for (const RunInfo& run : runs) {
    const std::vector<Condition> conditions = conditions_of(run);
    all.resize(conditions.size());
    for (std::size_t i = 0; i < conditions.size(); ++i)
      all[i].insert(conditions[i].value);
  }
  return all;
}

std::string title_of(const RunInfo& run, const std::vector<std::set<std::string>>& among) {
  const RunKey& key = run.key;
  std::string title = key.workload + " at scale " + key.scale;
  if (key.budget > 0) title += ", " + std::to_string(key.budget) + " replicas";
  title += key.mode == PoolMode::Transaction ? ", transaction mode" : ", session mode";
  title += ", " + sim::digits(key.duration) + " s";
  if (key.think != "0") title += ", think time " + key.think + " s";
  const std::vector<Condition> conditions = conditions_of(run);
  for (std::size_t i = 0; i < conditions.size(); ++i)
    if (!conditions[i].in_title && among[i].size() > 1)
      title += std::string(", ") + conditions[i].name + " " + conditions[i].value;
  return title;
}

void add_service(Service& service, const Summary& summary) {
  for (std::size_t c = 0; c < kClassCount; ++c) {
    const ResponseSummary& answers = summary.classes[c];
    const WaitingSummary& waiting = summary.waiting[c];
    service.queries[c] += answers.queries;
    service.sessions[c] += waiting.sessions;
    service.lost[c] += answers.lost;
    service.sessions_lost[c] += waiting.lost;
    service.waiting_mean[c].push_back(waiting.mean.seconds);
    service.waiting_p95[c].push_back(waiting.p95.seconds);
    Service::AtLeast& at_least = service.at_least[c];
    at_least.mean |= answers.mean.at_least;
    at_least.median |= answers.median.at_least;
    at_least.p95 |= answers.p95.at_least;
    at_least.waiting_mean |= waiting.mean.at_least;
    at_least.waiting_p95 |= waiting.p95.at_least;
  }
  service.all_mean_at_least |= summary.all.mean.at_least;
}

void add_values(sim::PlbRow& row, const RunInfo& run) {
  const Summary& summary = run.summary;
  for (std::size_t c = 0; c < kClassCount; ++c) {
    if (summary.classes[c].samples() == 0) continue;
    row.mean[c].push_back(summary.classes[c].mean.seconds);
    row.median[c].push_back(summary.classes[c].median.seconds);
    row.p95[c].push_back(summary.classes[c].p95.seconds);
  }
  row.all_mean.push_back(summary.all.mean.seconds);
  row.all_median.push_back(summary.all.median.seconds);
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

void add_sources(std::set<std::string>& sources, bool& whole_machine, const RunInfo& run) {
  for (const ReplicaUse& replica : run.replicas) {
    sources.insert("processor time from " + replica.cpu_source + ", utilization 1 is " +
                   replica.cores_source);
    whole_machine |= replica.cores_source == kWholeMachine;
  }
}

Group group_of(std::vector<const RunInfo*> runs, const std::vector<std::set<std::string>>& among) {
  Group group;
  std::set<std::string> sources;
  group.title = title_of(*runs.front(), among);
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
      group.service.emplace_back();
    }
    add_service(group.service.back(), run->summary);
    add_sources(sources, group.whole_machine, *run);
    add_values(group.rows.back(), *run);
    group.repetitions.back().push_back(run->key.repetition);
    group.has_utilization = group.has_utilization && run->has_utilization();
    group.late += run->summary.late;
    group.abandoned_open += run->abandoned_open;
  }
  group.cpu_sources.assign(sources.begin(), sources.end());
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

bool is_at_least(const Service& service, const sim::PlbComparison& at) {
  const Service::AtLeast& of_class = service.at_least[at.which];
  return at.metric == sim::Metric::Median ? of_class.median : of_class.p95;
}

// What both sides left out.
void add_service(Finding& finding, const Service& own, const Service& baseline) {
  const std::size_t c = finding.test.which;
  finding.lost = own.lost_share(c);
  finding.baseline_lost = baseline.lost_share(c);
  finding.sessions_lost = own.sessions_lost_share(c);
  finding.baseline_sessions_lost = baseline.sessions_lost_share(c);
  finding.at_least = is_at_least(own, finding.test);
  finding.baseline_at_least = is_at_least(baseline, finding.test);
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

double Service::lost_share(std::size_t class_index) const noexcept {
  return lost[class_index].share(queries[class_index]);
}

double Service::sessions_lost_share(std::size_t class_index) const noexcept {
  return sessions_lost[class_index].share(sessions[class_index]);
}

std::vector<Group> groups_of(const std::vector<RunInfo>& runs) {
  const auto among = values_among(runs);
  std::map<std::vector<std::string>, std::vector<const RunInfo*>> parts;
  for (const RunInfo& run : runs)
    parts[values_of(conditions_of(run))].push_back(&run);
  std::vector<Group> groups;
  for (const auto& [values, part] : parts)
    groups.push_back(group_of(part, among));
  return groups;
}

std::string kept_apart(const std::vector<RunInfo>& runs) {
  std::string text;
  if (runs.empty()) return text;
  const std::vector<Condition> conditions = conditions_of(runs.front());
  const auto among = values_among(runs);
  for (std::size_t i = 0; i < conditions.size(); ++i)
    if (among[i].size() > 1)
      text += std::string(text.empty() ? "Kept apart, as they differ: " : "; ") + conditions[i].name + " (" +
              joined({among[i].begin(), among[i].end()}) + ")";
  return text;
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
      Finding& f = findings.emplace_back();
      f.strategy = strategy;
      f.test = test;
      f.repeated = x.size() > 1 && y.size() > 1;
      f.difference = stats::median_difference(x, y);
      f.paired = paired_change(x, group.repetitions[a], y, group.repetitions[b]);
      add_service(f, group.service[a], group.service[b]);
    }
  return findings;
}

}  // namespace sluice::bench
