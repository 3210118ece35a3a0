#include "bench/report.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "sluice/stats/comparison.h"

#include "report/charts.h"

namespace sluice::bench {
namespace {

using report::Chart;
using report::chart_of;
using report::Charts;
using report::Scale;
using report::Section;
using sim::digits;
using sim::percent;

std::string mean_text(const std::vector<double>& values, int significant = 4) {
  if (values.empty()) return "-";
  return digits(stats::mean(values), significant);
}

std::string interval_text(const stats::Interval& interval, std::string (*text)(double)) {
  return text(interval.low) + " to " + text(interval.high);
}
std::string seconds_text(double value) {
  return digits(value, 3);
}

// The least, the middle and the greatest share of those that ran at several T.
std::vector<double> three_mixes(const Group& group) {
  std::map<double, std::set<double>> terminals;
  for (const sim::PlbRow& row : group.rows)
    terminals[row.premium_share].insert(row.sessions);
  std::vector<double> shares;
  for (const auto& [share, all] : terminals)
    if (all.size() > 1) shares.push_back(share);
  if (shares.size() <= 3) return shares;
  return {shares.front(), shares[shares.size() / 2], shares.back()};
}

// Charts with a line for each strategy, in the same order in all of them and so in the same colour.
class StrategyCharts {
 public:
  StrategyCharts(const Group& group, const std::string& x_name, const std::string& y_name)
      : charts_(chart_of(x_name, y_name, Scale::Linear, Scale::Linear)) {
    for (const sim::PlbRow& row : group.rows)
      strategies_.insert(row.strategy);
  }

  void add(const std::string& title, const sim::PlbRow& row, double x, const std::vector<double>& values) {
    if (titles_.insert(title).second)
      for (const std::string& strategy : strategies_)
        charts_.add(title, strategy, std::nan(""), std::nan(""));  // a line without a point yet
    charts_.add(title, row.strategy, x, values.empty() ? std::nan("") : stats::mean(values));
  }
  void append_to(std::vector<Chart>& all) const {
    all.insert(all.end(), charts_.all().begin(), charts_.all().end());
  }

 private:
  Charts charts_;
  std::set<std::string> strategies_, titles_;
};

bool among(const std::vector<double>& values, double value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

// Response time against T, a chart per mix and class.
Section by_terminals(const Group& group) {
  const std::vector<double> mixes = three_mixes(group);
  const std::string x_name = "terminals T";
  StrategyCharts medians(group, x_name, "median response time, s");
  for (const double mix : mixes)
    for (std::size_t c = 0; c < kClassCount; ++c)
      for (const sim::PlbRow& row : group.rows)
        if (row.premium_share == mix)
          medians.add(
              "Median of " + group.class_names[c] + ", share of " + group.class_names[0] + " " + digits(mix),
              row, row.sessions, row.median[c]);
  StrategyCharts tails(group, x_name, "p95 response time, s");
  for (const sim::PlbRow& row : group.rows)
    if (among(mixes, row.premium_share))
      tails.add("p95 of " + group.class_names[0] + ", share " + digits(row.premium_share), row, row.sessions,
                row.p95[0]);
  Section section{group.title + ": response time by load", {"Means over runs."}, {}, {}};
  if (mixes.empty()) section.paragraphs = {"No share ran at more than one T."};
  medians.append_to(section.charts);
  tails.append_to(section.charts);
  return section;
}

// Medians against the share, a chart per T and class.
Section by_share(const Group& group) {
  StrategyCharts charts(group, "share of " + group.class_names[0], "median response time, s");
  for (std::size_t c = 0; c < kClassCount; ++c)
    for (const sim::PlbRow& row : group.rows)
      charts.add("Median of " + group.class_names[c] + " at T = " + digits(row.sessions), row,
                 row.premium_share, row.median[c]);
  Section section{group.title + ": medians at fixed load", {"Means over runs."}, {}, {}};
  charts.append_to(section.charts);
  return section;
}

Section utilization(const Group& group) {
  const std::string x_name = "share of " + group.class_names[0];
  StrategyCharts mean(group, x_name, "utilization u"), spread(group, x_name, "CV(u)");
  for (const sim::PlbRow& row : group.rows) {
    const std::string at = "at T = " + digits(row.sessions);
    mean.add("Utilization " + at, row, row.premium_share, row.utilization);
    spread.add("CV of the replicas' utilization " + at, row, row.premium_share, row.utilization_cv);
  }
  Section section{
      group.title + ": utilization",
      {"u is the mean over replicas of processor time over what the replica may use; CV(u) takes the "
       "replicas as the whole population. Both are means over runs."},
      {},
      {}};
  mean.append_to(section.charts);
  spread.append_to(section.charts);
  return section;
}

Section volcano(const Group& group, const std::vector<Finding>& findings, const std::string& baseline) {
  Chart like = chart_of("log2 of the value over " + baseline + "'s", "-log10 p of Welch's test",
                        Scale::Linear, Scale::Linear);
  like.points = true;
  Charts charts(like);
  for (const Finding& f : findings) {
    if (!f.repeated || f.test.change <= -1) continue;
    charts.add(f.strategy + ", " + std::string(sim::metric_name(f.test.metric)),
               group.class_names[f.test.which], std::log2(1 + f.test.change),
               -std::log10(std::max(f.test.p, 1e-30)));
  }
  std::vector<std::string> text = {
      "Each configuration is a point. Left of 0 the strategy is quicker than " + baseline +
      "; above 1.3 that is beyond chance at 5%, for one configuration taken alone."};
  if (findings.empty())
    text = {"There is no configuration that both " + baseline + " and another strategy ran."};
  return {
      group.title + ": against " + baseline, std::move(text), charts.all(),
      findings.empty() ? std::vector<std::vector<std::string>>{} : findings_table(group, findings).rows()};
}

std::vector<std::string> cautions(const Group& group) {
  std::vector<std::string> out = {"Means over runs; times in seconds."};
  if (group.errors > 0)
    out.push_back(std::to_string(group.errors) + " measured queries ended with an error.");
  if (group.late > 0)
    out.push_back(std::to_string(group.late) +
                  " queries were sent more than 10 ms late; their response times hold that delay.");
  return out;
}

}  // namespace

sim::Table runs_table(const std::vector<RunInfo>& runs) {
  sim::Table table({"workload",
                    "scale",
                    "budget",
                    "mode",
                    "strategy",
                    "terminals",
                    "premium_share",
                    "repetition",
                    "class",
                    "sessions",
                    "sessions_failed",
                    "queries",
                    "errors",
                    "mean",
                    "median",
                    "p95",
                    "p99",
                    "session_waiting_mean",
                    "utilization",
                    "utilization_cv",
                    "late_sessions",
                    "late_queries",
                    "began"});
  for (const RunInfo& run : runs)
    for (std::size_t c = 0; c < kClassCount; ++c) {
      const RunKey& key = run.key;
      const Summary& all = run.summary;
      const ResponseSummary& s = all.classes[c];
      const bool used = run.has_utilization();
      table.add({key.workload,
                 key.scale,
                 std::to_string(key.budget),
                 key.mode == PoolMode::Transaction ? "transaction" : "session",
                 key.strategy,
                 std::to_string(key.terminals),
                 digits(key.premium_share, 8),
                 std::to_string(key.repetition),
                 run.class_names[c],
                 std::to_string(all.sessions[c]),
                 std::to_string(all.sessions_failed[c]),
                 std::to_string(s.queries),
                 std::to_string(s.errors),
                 digits(s.mean, 8),
                 digits(s.median, 8),
                 digits(s.p95, 8),
                 digits(s.p99, 8),
                 digits(all.session_waiting_mean[c], 8),
                 used ? digits(run.utilization(), 8) : "",
                 used ? digits(run.utilization_cv(), 8) : "",
                 std::to_string(all.late.sessions),
                 std::to_string(all.late.queries),
                 run.began});
    }
  return table;
}

sim::Table rows_table(const Group& group) {
  std::vector<std::string> header = {"T", group.class_names[0], "strategy", "runs"};
  for (const std::string& name : group.class_names)
    for (const char* what : {" mean", " median", " p95"})
      header.push_back(name + what);
  header.insert(header.end(), {"all mean", "u", "CV(u)"});
  sim::Table table(header);
  for (const sim::PlbRow& row : group.rows) {
    std::vector<std::string> cells = {digits(row.sessions), digits(row.premium_share), row.strategy,
                                      std::to_string(row.all_mean.size())};
    for (std::size_t c = 0; c < kClassCount; ++c)
      for (const auto* values : {&row.mean[c], &row.median[c], &row.p95[c]})
        cells.push_back(mean_text(*values));
    cells.push_back(mean_text(row.all_mean));
    for (const auto* values : {&row.utilization, &row.utilization_cv})
      cells.push_back(group.has_utilization ? mean_text(*values, 3) : "-");
    table.add(cells);
  }
  return table;
}

sim::Table findings_table(const Group& group, const std::vector<Finding>& findings) {
  sim::Table table({"strategy", "T", group.class_names[0], "class", "value", "change", "paired change",
                    "95% (paired, t)", "difference, s", "95% (bootstrap)", "p (Welch)", "p (Holm)",
                    "Hedges g"});
  for (const Finding& f : findings)
    table.add({f.strategy, digits(f.test.sessions), digits(f.test.premium_share),
               group.class_names[f.test.which], std::string(sim::metric_name(f.test.metric)),
               percent(f.test.change), f.paired ? percent(f.paired->estimate) : "-",
               f.paired ? interval_text(*f.paired, percent) : "-", digits(f.difference.estimate, 3),
               f.repeated ? interval_text(f.difference, seconds_text) : "-",
               f.repeated ? digits(f.test.p, 2) : "-", f.repeated ? digits(f.test.p_holm, 2) : "-",
               f.test.effect ? digits(*f.test.effect, 3) : "-"});
  return table;
}

sim::Table findings_csv(const std::vector<Group>& groups, const std::string& baseline) {
  sim::Table table({"group", "strategy", "baseline", "terminals", "premium_share", "class", "value", "change",
                    "paired_change", "paired_low", "paired_high", "difference", "difference_low",
                    "difference_high", "p_welch", "p_holm", "hedges_g"});
  for (const Group& group : groups)
    for (const Finding& f : findings_of(group, baseline)) {
      const auto paired = [&](double stats::Interval::*value) {
        return f.paired ? digits((*f.paired).*value, 8) : std::string();
      };
      const auto repeated = [&](double value) { return f.repeated ? digits(value, 8) : std::string(); };
      table.add({group.title, f.strategy, baseline, digits(f.test.sessions, 8),
                 digits(f.test.premium_share, 8), group.class_names[f.test.which],
                 std::string(sim::metric_name(f.test.metric)), digits(f.test.change, 8),
                 paired(&stats::Interval::estimate), paired(&stats::Interval::low),
                 paired(&stats::Interval::high), digits(f.difference.estimate, 8), repeated(f.difference.low),
                 repeated(f.difference.high), repeated(f.test.p), repeated(f.test.p_holm),
                 f.test.effect ? digits(*f.test.effect, 8) : ""});
    }
  return table;
}

report::Report page_of(const std::vector<Group>& groups, const std::string& baseline,
                       const std::string& command) {
  report::Report out{"Sessions of two classes, measured", command, {}};
  for (const Group& group : groups) {
    out.sections.push_back(by_terminals(group));
    out.sections.push_back(by_share(group));
    if (group.has_utilization) out.sections.push_back(utilization(group));
    out.sections.push_back(volcano(group, findings_of(group, baseline), baseline));
    out.sections.push_back(
        {group.title + ": all configurations", cautions(group), {}, rows_table(group).rows()});
  }
  return out;
}

}  // namespace sluice::bench
