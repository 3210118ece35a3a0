#include <set>
#include <utility>

#include "sluice/stats/comparison.h"

#include "bench/report.h"

namespace sluice::bench {
namespace {

using sim::digits;
using sim::percent;

// A statistic that rests on what was given up is said to be a lower bound.
std::string mean_text(const std::vector<double>& values, bool at_least = false, int significant = 4) {
  if (values.empty()) return "-";
  return (at_least ? ">= " : "") + digits(stats::mean(values), significant);
}

std::string interval_text(const stats::Interval& interval, std::string (*text)(double)) {
  return text(interval.low) + " to " + text(interval.high);
}
std::string seconds_text(double value) {
  return digits(value, 3);
}

// "0" where nothing is lost, so that what is stands out.
std::string share_text(double share) {
  return share == 0 ? "0" : digits(100 * share, 3) + "%";
}

std::string at_least_text(const ResponseSummary& s) {
  std::string text;
  for (const auto& [name, time] :
       {std::pair{"mean", &s.mean}, {"median", &s.median}, {"p95", &s.p95}, {"p99", &s.p99}})
    if (time->at_least) text += (text.empty() ? "" : " ") + std::string(name);
  return text;
}

// Which side of a comparison is a lower bound.
std::string bounds_text(const Finding& f, const char* neither) {
  if (f.at_least) return f.baseline_at_least ? "both" : "strategy";
  return f.baseline_at_least ? "baseline" : neither;
}

// What the replicas say of one of these, each once.
std::string sources_text(const RunInfo& run, std::string ReplicaUse::*which) {
  std::set<std::string> sources;
  for (const ReplicaUse& replica : run.replicas)
    sources.insert(replica.*which);
  std::string text;
  for (const std::string& source : sources)
    text += (text.empty() ? "" : "; ") + source;
  return text;
}

std::vector<std::string> cells_of(const RunInfo& run, std::size_t c) {
  const RunKey& key = run.key;
  const Summary& all = run.summary;
  const ResponseSummary& s = all.classes[c];
  const WaitingSummary& waiting = all.waiting[c];
  const bool used = run.has_utilization();
  std::vector<std::string> cells = {key.workload,
                                    key.scale,
                                    key.digest,
                                    std::to_string(key.budget),
                                    key.mode == PoolMode::Transaction ? "transaction" : "session",
                                    key.ask_replica == AskReplica::PerQuery ? "per query" : "per session",
                                    std::to_string(key.seed),
                                    key.strategy,
                                    std::to_string(key.terminals),
                                    digits(key.premium_share, 8),
                                    std::to_string(key.repetition),
                                    run.class_names[c],
                                    std::to_string(all.sessions[c]),
                                    std::to_string(all.sessions_failed[c]),
                                    std::to_string(s.queries)};
  const auto add_losses = [&](const Losses& lost) {
    for (const std::size_t count : {lost.total(), lost.timed_out, lost.cut, lost.refused, lost.failed})
      cells.push_back(std::to_string(count));
  };
  add_losses(s.lost);
  for (const Time& time : {s.mean, s.median, s.p95, s.p99})
    cells.push_back(digits(time.seconds, 8));
  cells.push_back(at_least_text(s));
  cells.push_back(std::to_string(waiting.sessions));
  add_losses(waiting.lost);
  for (const Time& time : {waiting.mean, waiting.median, waiting.p95})
    cells.push_back(digits(time.seconds, 8));
  cells.insert(cells.end(),
               {used ? digits(run.utilization(), 8) : "", used ? digits(run.utilization_cv(), 8) : "",
                sources_text(run, &ReplicaUse::cpu_source), sources_text(run, &ReplicaUse::cores_source),
                std::to_string(all.late.sessions), std::to_string(all.late.queries),
                std::to_string(run.abandoned_open), run.began});
  return cells;
}

}  // namespace

sim::Table runs_table(const std::vector<RunInfo>& runs) {
  sim::Table table({"workload",
                    "scale",
                    "digest",
                    "budget",
                    "mode",
                    "replica_asked",
                    "seed",
                    "strategy",
                    "terminals",
                    "premium_share",
                    "repetition",
                    "class",
                    "sessions",
                    "sessions_failed",
                    "queries",
                    "errors",
                    "timed_out",
                    "cut",
                    "refused",
                    "failed",
                    "mean",
                    "median",
                    "p95",
                    "p99",
                    "at_least",
                    "sessions_served",
                    "sessions_lost",
                    "sessions_timed_out",
                    "sessions_cut",
                    "sessions_refused",
                    "sessions_unconnected",
                    "session_waiting_mean",
                    "session_waiting_median",
                    "session_waiting_p95",
                    "utilization",
                    "utilization_cv",
                    "cpu_source",
                    "cores_source",
                    "late_sessions",
                    "late_queries",
                    "abandoned_open",
                    "began"});
  for (const RunInfo& run : runs)
    for (std::size_t c = 0; c < kClassCount; ++c)
      table.add(cells_of(run, c));
  return table;
}

sim::Table rows_table(const Group& group) {
  std::vector<std::string> header = {"T", group.class_names[0], "strategy", "runs"};
  for (const std::string& name : group.class_names)
    for (const char* what : {" mean", " median", " p95", " lost", " sessions lost", " wait"})
      header.push_back(name + what);
  header.insert(header.end(), {"all mean", "u", "CV(u)"});
  sim::Table table(header);
  for (std::size_t i = 0; i < group.rows.size(); ++i) {
    const sim::PlbRow& row = group.rows[i];
    const Service& service = group.service[i];
    std::vector<std::string> cells = {digits(row.sessions), digits(row.premium_share), row.strategy,
                                      std::to_string(row.all_mean.size())};
    for (std::size_t c = 0; c < kClassCount; ++c) {
      const Service::AtLeast& at_least = service.at_least[c];
      cells.push_back(mean_text(row.mean[c], at_least.mean));
      cells.push_back(mean_text(row.median[c], at_least.median));
      cells.push_back(mean_text(row.p95[c], at_least.p95));
      cells.push_back(share_text(service.lost_share(c)));
      cells.push_back(share_text(service.sessions_lost_share(c)));
      cells.push_back(mean_text(service.waiting_mean[c], at_least.waiting_mean, 3));
    }
    cells.push_back(mean_text(row.all_mean, service.all_mean_at_least));
    for (const auto* values : {&row.utilization, &row.utilization_cv})
      cells.push_back(group.has_utilization ? mean_text(*values, false, 3) : "-");
    table.add(cells);
  }
  return table;
}

sim::Table service_table(const Group& group) {
  sim::Table table({"T", group.class_names[0], "strategy", "class", "queries", "timed out", "cut", "refused",
                    "failed", "lost", "sessions", "timed out", "cut", "refused", "failed", "waiting mean, s",
                    "waiting p95, s"});
  for (std::size_t i = 0; i < group.rows.size(); ++i)
    for (std::size_t c = 0; c < kClassCount; ++c) {
      const sim::PlbRow& row = group.rows[i];
      const Service& service = group.service[i];
      std::vector<std::string> cells = {digits(row.sessions), digits(row.premium_share), row.strategy,
                                        group.class_names[c], std::to_string(service.queries[c])};
      const auto add_losses = [&](const Losses& lost) {
        for (const std::size_t count : {lost.timed_out, lost.cut, lost.refused, lost.failed})
          cells.push_back(std::to_string(count));
      };
      add_losses(service.lost[c]);
      cells.push_back(share_text(service.lost_share(c)));
      cells.push_back(std::to_string(service.sessions[c]));
      add_losses(service.sessions_lost[c]);
      cells.push_back(mean_text(service.waiting_mean[c], service.at_least[c].waiting_mean));
      cells.push_back(mean_text(service.waiting_p95[c], service.at_least[c].waiting_p95));
      table.add(cells);
    }
  return table;
}

sim::Table findings_table(const Group& group, const std::vector<Finding>& findings) {
  sim::Table table({"strategy", "T", group.class_names[0], "class", "value", "change", "paired change",
                    "95% (paired, t)", "difference, s", "95% (bootstrap)", "p (Welch)", "p (Holm)",
                    "Hedges g", "at least", "lost", "baseline lost", "sessions lost",
                    "baseline sessions lost"});
  for (const Finding& f : findings)
    table.add(
        {f.strategy, digits(f.test.sessions), digits(f.test.premium_share), group.class_names[f.test.which],
         std::string(sim::metric_name(f.test.metric)), percent(f.test.change),
         f.paired ? percent(f.paired->estimate) : "-", f.paired ? interval_text(*f.paired, percent) : "-",
         digits(f.difference.estimate, 3), f.repeated ? interval_text(f.difference, seconds_text) : "-",
         f.repeated ? digits(f.test.p, 2) : "-", f.repeated ? digits(f.test.p_holm, 2) : "-",
         f.test.effect ? digits(*f.test.effect, 3) : "-", bounds_text(f, "-"), share_text(f.lost),
         share_text(f.baseline_lost), share_text(f.sessions_lost), share_text(f.baseline_sessions_lost)});
  return table;
}

sim::Table findings_csv(const std::vector<Group>& groups, const std::string& baseline) {
  sim::Table table({"group",
                    "strategy",
                    "baseline",
                    "terminals",
                    "premium_share",
                    "class",
                    "value",
                    "change",
                    "paired_change",
                    "paired_low",
                    "paired_high",
                    "difference",
                    "difference_low",
                    "difference_high",
                    "p_welch",
                    "p_holm",
                    "hedges_g",
                    "at_least",
                    "lost_share",
                    "baseline_lost_share",
                    "sessions_lost_share",
                    "baseline_sessions_lost_share"});
  for (const Group& group : groups)
    for (const Finding& f : findings_of(group, baseline)) {
      const auto paired = [&](double stats::Interval::*value) {
        return f.paired ? digits((*f.paired).*value, 8) : std::string();
      };
      const auto repeated = [&](double value) { return f.repeated ? digits(value, 8) : std::string(); };
      table.add({group.title,
                 f.strategy,
                 baseline,
                 digits(f.test.sessions, 8),
                 digits(f.test.premium_share, 8),
                 group.class_names[f.test.which],
                 std::string(sim::metric_name(f.test.metric)),
                 digits(f.test.change, 8),
                 paired(&stats::Interval::estimate),
                 paired(&stats::Interval::low),
                 paired(&stats::Interval::high),
                 digits(f.difference.estimate, 8),
                 repeated(f.difference.low),
                 repeated(f.difference.high),
                 repeated(f.test.p),
                 repeated(f.test.p_holm),
                 f.test.effect ? digits(*f.test.effect, 8) : "",
                 bounds_text(f, ""),
                 digits(f.lost, 8),
                 digits(f.baseline_lost, 8),
                 digits(f.sessions_lost, 8),
                 digits(f.baseline_sessions_lost, 8)});
    }
  return table;
}

}  // namespace sluice::bench
