#include "sim/reports.h"

#include <algorithm>
#include <functional>
#include <map>

#include "sluice/stats/comparison.h"

#include "report/charts.h"

namespace sluice::sim {
namespace {

using report::Chart;
using report::chart_of;
using report::Charts;
using report::Report;
using report::Scale;
using report::Section;

// Simulated where it was, else by formula.
std::optional<double> value_of(const std::optional<stats::Interval>& simulated,
                               const std::optional<double>& formula) {
  if (simulated) return simulated->estimate;
  return formula;
}

Section section(std::string heading, std::vector<std::string> paragraphs, std::vector<Chart> charts,
                const Table& table) {
  return {std::move(heading), std::move(paragraphs), std::move(charts), table.rows()};
}

}  // namespace

Report assignment_report(const std::vector<AssignmentRow>& rows, const std::string& command) {
  Charts waiting(chart_of("hosts", "mean waiting time", Scale::Log, Scale::Log));
  Charts slowdown(chart_of("hosts", "mean slowdown", Scale::Log, Scale::Log));
  for (const AssignmentRow& row : rows) {
    const std::string at = "alpha " + digits(row.alpha) + ", load " + digits(row.load);
    const auto hosts = static_cast<double>(row.hosts);
    const auto formula = [&](double stats::JobMeans::*value) {
      return row.formula ? std::optional<double>(row.formula.value().*value) : std::nullopt;
    };
    const std::string rule(rule_name(row.rule));
    if (const auto v = value_of(row.waiting, formula(&stats::JobMeans::waiting)))
      waiting.add("Waiting, " + at, rule, hosts, *v);
    if (const auto v = value_of(row.slowdown, formula(&stats::JobMeans::slowdown)))
      slowdown.add("Slowdown, " + at, rule, hosts, *v);
  }
  const std::string read =
      "Waiting is response time less size, slowdown waiting over size. Where a rule is below ps it does "
      "better than "
      "processor sharing.";
  return {"Assigning tasks to hosts",
          command,
          {{"Waiting time by number of hosts", {read}, waiting.all(), {}},
           section("Slowdown by number of hosts", {}, slowdown.all(), assignment_table(rows))}};
}

Report scheduling_report(const std::vector<SchedulingRow>& rows, const std::string& command) {
  Charts response(chart_of("load", "mean response time", Scale::Linear, Scale::Log));
  Charts largest(chart_of("load", "response over size, of the largest", Scale::Linear, Scale::Log));
  for (const SchedulingRow& row : rows) {
    const std::string at = "alpha " + digits(row.alpha), name(schedule_name(row.schedule));
    const auto formula = [&](double SchedulingRow::Formula::*value) {
      return row.formula ? std::optional<double>(row.formula.value().*value) : std::nullopt;
    };
    if (const auto v = value_of(row.response, formula(&SchedulingRow::Formula::response)))
      response.add("Response time, " + at, name, row.load, *v);
    if (const auto v = value_of(row.largest, formula(&SchedulingRow::Formula::largest)))
      largest.add("The largest, " + at, name, row.load, *v);
  }
  return {"Serving the shortest first",
          command,
          {{"Mean response time by load", {}, response.all(), {}},
           section("What the largest pay",
                   {"Response over size of the largest 0.1%, or of the largest size by formula."},
                   largest.all(), scheduling_table(rows))}};
}

namespace {

void add_plb_lines(Report& out, const std::vector<PlbRow>& rows) {
  const std::pair<const char*, std::function<double(const PlbRow&)>> values[] = {
      {"Premium median, s", [](const PlbRow& r) { return stats::mean(r.median[0]); }},
      {"Freemium median, s", [](const PlbRow& r) { return stats::mean(r.median[1]); }},
      {"Mean of all queries, s", [](const PlbRow& r) { return stats::mean(r.all_mean); }},
      {"Utilization u", [](const PlbRow& r) { return stats::mean(r.utilization); }},
      {"CV(u)", [](const PlbRow& r) { return stats::mean(r.utilization_cv); }}};
  for (const auto& [name, value] : values) {
    Charts charts(chart_of("Premium share", name, Scale::Linear, Scale::Linear));
    for (const PlbRow& row : rows)
      charts.add("T = " + digits(row.sessions), row.strategy, row.premium_share, value(row));
    out.sections.push_back({name, {}, charts.all(), {}});
  }
}

void add_volcano(Report& out, const std::vector<PlbRow>& rows) {
  const auto comparisons = compare(rows, "5PLB", "5RR");
  if (comparisons.empty()) return;
  Chart like =
      chart_of("change of the median, 5PLB against 5RR", "p of Welch's test", Scale::Linear, Scale::Log);
  like.points = true;
  Charts charts(like);
  for (const PlbComparison& c : comparisons)
    if (c.metric == Metric::Median)
      charts.add("Each configuration is a point; low ones are beyond chance",
                 c.which == 0 ? "Premium" : "Freemium", c.change, std::max(c.p, 1e-30));
  out.sections.push_back(section("Volcano plot", {"To the left of 0 PLB is quicker than round robin."},
                                 charts.all(), comparison_table(comparisons)));
}

// One class against the other, along the weights of proportional, with PLB as a point.
void add_trades(Report& out, const std::vector<PlbRow>& rows) {
  const auto found = trades(rows);
  if (found.empty()) return;
  Charts charts(chart_of("Premium median, s", "Freemium median, s", Scale::Linear, Scale::Linear));
  for (const PlbRow& row : rows) {
    const bool dial = row.strategy.starts_with("proportional/");
    charts.add("T = " + digits(row.sessions) + ", Premium share " + digits(row.premium_share),
               dial ? "proportional" : row.strategy, stats::mean(row.median[0]), stats::mean(row.median[1]));
  }
  out.sections.push_back(
      section("PLB and the dial",
              {"proportional draws a line as its weight grows, from right to left. Where PLB lies above it, "
               "the line serves Freemium better at the same Premium median."},
              charts.all(), trade_table(found)));
}

}  // namespace

Report plb_report(const std::vector<PlbRow>& rows, const std::string& command) {
  Report out{"The evaluation of PLB", command, {}};
  add_plb_lines(out, rows);
  add_volcano(out, rows);
  add_trades(out, rows);
  if (const auto figures = paper_figures(rows); !figures.empty())
    out.sections.push_back(section("The paper's figures beside these", {}, {}, paper_table(figures)));
  out.sections.push_back(
      section("All configurations", {"Means over runs; times in seconds."}, {}, plb_table(rows)));
  return out;
}

Report placement_report(const PlacementPlan& plan, const std::vector<SweepRow>& rows,
                        const std::string& command) {
  Charts charts(chart_of("serial calls", "ms", Scale::Linear, Scale::Linear));
  for (const SweepRow& row : rows)
    for (std::size_t h = 0; h < plan.hosts.size(); ++h)
      charts.add("What a request takes on each host", plan.hosts[h].name, row.calls, row.score[h].count());
  return {"Where to compute",
          command,
          {section("Cost by serial calls", {}, charts.all(), sweep_table(plan, rows)),
           section("Crossovers", {"The far host wins with more calls than these."}, {},
                   crossover_table(plan, crossovers(plan)))}};
}

Report replay_report(const ReplayCheck& check, const std::vector<NamedOutcome>& outcomes,
                     const std::string& command) {
  Charts charts(chart_of("part of the time", "mean response time, ms", Scale::Linear, Scale::Linear));
  for (const NamedOutcome& o : outcomes)
    for (const ReplayClass& c : o.outcome.classes)
      if (c.slice_means.size() == kReplaySlices)
        for (std::size_t s = 0; s < kReplaySlices; ++s)
          charts.add("Class " + c.name, o.name, static_cast<double>(s + 1), c.slice_means[s] * 1e3);
  return {
      "A recorded trace, replayed",
      command,
      {section("Check", {"The recorded policy replayed, against what was recorded."}, {}, check_table(check)),
       section("What would have been", {}, charts.all(), replay_table(outcomes))}};
}

Report tuning_report(const std::vector<Tuned>& tuned, const std::string& command) {
  Chart like =
      chart_of("mean of the highest class, ms", "mean of the lowest class, ms", Scale::Linear, Scale::Linear);
  like.points = true;
  Charts charts(like);
  for (const Tuned& t : tuned) {
    const auto& classes = t.outcome.classes;
    if (classes.size() < 3) continue;  // one class, and all
    const bool recorded = &t == &tuned.front();
    charts.add("Every configuration that was tried",
               recorded ? "as recorded" : std::string(policy::policy_name(t.plan.config.policy)),
               classes.front().mean * 1e3, classes[classes.size() - 2].mean * 1e3);
  }
  return {"The search for a better configuration",
          command,
          {section("What was tried", {"The score is 1 as recorded; less is better."}, charts.all(),
                   tuning_table(tuned, tuned.size()))}};
}

}  // namespace sluice::sim
