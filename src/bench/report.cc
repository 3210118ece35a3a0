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

// Up to three shares among those that ran at every T of the group, or if there is none, at the most T: the
// least, the greatest and the one nearest to the middle between them. None when no share ran at two T.
std::vector<double> three_mixes(const Group& group) {
  std::map<double, std::set<double>> terminals;
  for (const sim::PlbRow& row : group.rows)
    terminals[row.premium_share].insert(row.sessions);
  std::size_t most = 2;
  for (const auto& [share, all] : terminals)
    most = std::max(most, all.size());
  std::vector<double> shares;
  for (const auto& [share, all] : terminals)
    if (all.size() == most) shares.push_back(share);
  if (shares.size() <= 3) return shares;
  const double centre = (shares.front() + shares.back()) / 2;
  const auto middle = std::min_element(shares.begin() + 1, shares.end() - 1, [&](double a, double b) {
    return std::abs(a - centre) < std::abs(b - centre);
  });
  return {shares.front(), *middle, shares.back()};
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
  for (const std::string& source : group.cpu_sources)
    section.paragraphs.push_back("Measured: " + source + ".");
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

// What was not served and how long sessions waited, with a chart of the waiting per T and class.
Section service_section(const Group& group) {
  StrategyCharts charts(group, "share of " + group.class_names[0], "mean waiting time of sessions, s");
  for (std::size_t c = 0; c < kClassCount; ++c)
    for (std::size_t i = 0; i < group.rows.size(); ++i)
      charts.add("Waiting of " + group.class_names[c] + " sessions at T = " + digits(group.rows[i].sessions),
                 group.rows[i], group.rows[i].premium_share, group.service[i].waiting_mean[c]);
  Section section{
      group.title + ": what was lost, and waiting to begin",
      {"Queries and sessions of the measured time, over all runs. Timed out and cut queries are in the "
       "response times with the time that they had taken, which is a lower bound; refused and failed ones "
       "have none and are only here. A session waits from its planned arrival until it may ask; this is not "
       "in response times. One that is connected when the run has no time left is cut: it asked nothing, and "
       "is in no response time."},
      {},
      service_table(group).rows()};
  charts.append_to(section.charts);
  return section;
}

}  // namespace

std::vector<std::string> cautions(const Group& group) {
  std::vector<std::string> out = {"Means over runs; times in seconds."};
  Losses lost, sessions;
  bool at_least = false;
  for (const Service& service : group.service)
    for (std::size_t c = 0; c < kClassCount; ++c) {
      lost += service.lost[c];
      sessions += service.sessions_lost[c];
      at_least |= service.at_least[c].mean || service.at_least[c].waiting_mean;
    }
  if (lost.total() > 0)
    out.push_back(std::to_string(lost.total()) +
                  " measured queries were lost: " + std::to_string(lost.timed_out) + " timed out, " +
                  std::to_string(lost.cut) + " were cut, " + std::to_string(lost.refused) + " refused, " +
                  std::to_string(lost.failed) + " failed. Compare times only where strategies lost alike.");
  if (sessions.total() > 0)
    out.push_back(std::to_string(sessions.total()) + " measured sessions never asked anything, " +
                  std::to_string(sessions.cut) +
                  " of them since the run was over first: they are in no response time.");
  if (at_least)
    out.emplace_back("\">=\": a lower bound, as some of what it rests on was given up before it had ended.");
  if (group.whole_machine)
    out.emplace_back(
        "Utilization 1 is the whole machine for some replicas, since no quota of theirs was found: give "
        "cores:N.");
  if (group.abandoned_open > 0)
    out.push_back(
        std::to_string(group.abandoned_open) +
        " queries that were given up were still running when their run was over, beside the next one.");
  const LateSummary& late = group.late;
  if (late.sessions + late.queries > 0)
    out.push_back(std::to_string(late.sessions) + " sessions and " + std::to_string(late.queries) +
                  " queries began more than 10 ms late, by " + digits(late.worst, 3) +
                  " s at most; their waiting and response times hold that delay.");
  return out;
}

report::Report page_of(const std::vector<Group>& groups, const std::string& baseline,
                       const std::string& command, const std::string& apart) {
  report::Report out{"Sessions of two classes, measured", command, {}};
  if (!apart.empty()) out.sections.push_back({"Sets of runs", {apart + "."}, {}, {}});
  for (const Group& group : groups) {
    out.sections.push_back(by_terminals(group));
    out.sections.push_back(by_share(group));
    out.sections.push_back(service_section(group));
    if (group.has_utilization) out.sections.push_back(utilization(group));
    out.sections.push_back(volcano(group, findings_of(group, baseline), baseline));
    out.sections.push_back(
        {group.title + ": all configurations", cautions(group), {}, rows_table(group).rows()});
  }
  return out;
}

}  // namespace sluice::bench
