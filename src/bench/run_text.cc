#include "bench/run_text.h"

#include <algorithm>

#include "sim/table.h"

namespace sluice::bench {
namespace {

using sim::digits;

std::string time_text(const Time& time) {
  return (time.at_least ? ">= " : "") + digits(time.seconds);
}

std::string lost_text(const std::string& what, const Losses& lost) {
  return std::to_string(lost.total()) + " " + what + ": " + std::to_string(lost.timed_out) + " timed out, " +
         std::to_string(lost.cut) + " cut, " + std::to_string(lost.refused) + " refused, " +
         std::to_string(lost.failed) + " failed\n";
}

// What was lost of each class, where something was.
std::string losses_text(const RunInfo& info) {
  std::string text;
  for (std::size_t c = 0; c < kClassCount; ++c) {
    const Losses& queries = info.summary.classes[c].lost;
    const Losses& sessions = info.summary.waiting[c].lost;
    if (queries.total() > 0)
      text += lost_text("measured queries of " + info.class_names[c] + " lost", queries);
    if (sessions.total() > 0)
      text += lost_text("measured sessions of " + info.class_names[c] + " never served", sessions);
  }
  return text;
}

std::string utilization_text(const RunInfo& info) {
  const ReplicaUse& first = info.replicas.front();
  const bool alike = std::all_of(info.replicas.begin(), info.replicas.end(), [&](const ReplicaUse& replica) {
    return replica.cpu_source == first.cpu_source && replica.cores_source == first.cores_source;
  });
  return "u " + digits(info.utilization(), 3) + ", CV(u) " + digits(info.utilization_cv(), 3) +
         " (processor time from " + first.cpu_source + ", utilization 1 is " + first.cores_source +
         (alike ? ")\n" : "; of other replicas otherwise: see run.json)\n");
}

}  // namespace

std::string summary_text(const RunInfo& info) {
  sim::Table table({"class", "sessions", "failed", "waiting s", "queries", "lost", "mean s", "median s",
                    "p95 s", "p99 s"});
  const auto row = [&](const std::string& name, std::size_t sessions, std::size_t failed,
                       const std::string& waiting, const ResponseSummary& s) {
    table.add({name, std::to_string(sessions), std::to_string(failed), waiting, std::to_string(s.queries),
               std::to_string(s.lost.total()), time_text(s.mean), time_text(s.median), time_text(s.p95),
               time_text(s.p99)});
  };
  const Summary& s = info.summary;
  for (std::size_t c = 0; c < kClassCount; ++c)
    row(info.class_names[c], s.sessions[c], s.sessions_failed[c], time_text(s.waiting[c].mean), s.classes[c]);
  row("all", s.sessions[0] + s.sessions[1], s.sessions_failed[0] + s.sessions_failed[1], "", s.all);
  std::string text = table.text() + losses_text(info);
  if (info.abandoned_open > 0)
    text += std::to_string(info.abandoned_open) + " of " + std::to_string(info.abandoned) +
            " queries that were given up had not ended at the server when the run was over: the next run may "
            "meet them\n";
  if (info.has_utilization()) text += utilization_text(info);
  if (s.late.sessions + s.late.queries > 0)
    text += "late by more than 10 ms: " + std::to_string(s.late.sessions) + " sessions, " +
            std::to_string(s.late.queries) + " queries, at most " + digits(s.late.worst, 3) + " s\n";
  return text;
}

}  // namespace sluice::bench
