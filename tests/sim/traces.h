#pragma once

#include <sstream>
#include <string>

#include "sluice/rng.h"
#include "sluice/stats/portable_math.h"

#include "decide/config_line.h"
#include "recording/trace_writer.h"
#include "sim/replay.h"

namespace sluice::sim {

// A load for tests: sessions of two classes with exponential demands and pauses, whose responses are what a
// replica of so many cores would give; recorded as the router would.
struct MadeLoad {
  policy::PoolConfig config;
  double cores = 4;
  std::size_t sessions = 400;
  double gap_mean = 0.5, pause_mean = 1, demand_mean = 1;
  double premium_share = 0.3;
  std::uint64_t seed = 1;
  policy::QueueSettings queue = {};
  bool sized = false;  // the router expected just what each session asked for
};

inline policy::PoolConfig two_classes(policy::PolicyKind kind, std::size_t replicas = 4) {
  policy::PoolConfig config;
  config.policy = kind;
  config.classes = {{"premium", 10, *Ratio::parse("0.60"), 0, 1},
                    {"freemium", 10, *Ratio::parse("0.80"), 1, 1}};
  for (std::size_t i = 0; i < replicas; ++i)
    config.replicas.push_back({"r" + std::to_string(i + 1), std::nullopt});
  return config;
}

// The sessions alone, with demands in place of responses: a trace of a cluster that is never short of cores.
inline RecordedTrace made_sessions(const MadeLoad& load) {
  Rng rng(load.seed);
  const auto exponential = [&](double mean) { return -mean * stats::portable::log(1 - rng.unit()); };
  RecordedTrace trace;
  trace.config = load.config;
  double now = 0;
  for (std::size_t i = 0; i < load.sessions; ++i) {
    now += exponential(load.gap_mean);
    RecordedGuest& guest = trace.guests.emplace_back();
    guest.at = now;
    guest.session_class = rng.unit() < load.premium_share ? 0 : 1;
    for (std::uint64_t q = 1 + rng.below(8); q > 0; --q)
      guest.queries.push_back({exponential(load.pause_mean), exponential(load.demand_mean)});
    guest.tail = exponential(load.pause_mean);
    trace.query_count += guest.queries.size();
    if (!load.sized) continue;
    for (const RecordedQuery& q : guest.queries)
      guest.expected_size += q.response;
    ++trace.sized;
  }
  trace.duration = now;
  return trace;
}

// The same as they would have been recorded under the configuration, on replicas of that many cores.
inline RecordedTrace made_trace(const MadeLoad& load) {
  const RecordedTrace sessions = made_sessions(load);
  ReplayPlan plan;
  plan.config = load.config;
  plan.cores = load.cores;
  plan.queue = load.queue;
  RecordedTrace happened;
  replay(sessions, demands(sessions, std::numeric_limits<double>::infinity()), plan, &happened);
  return happened;
}

inline std::chrono::microseconds in_microseconds(double seconds) {
  return std::chrono::microseconds(static_cast<std::int64_t>(seconds * 1e6 + 0.5));
}

// A guest as `writer` has it, and its end.
inline recording::Admission admission_of(recording::TraceWriter& writer, const RecordedTrace& trace,
                                         std::size_t g) {
  using namespace recording;
  const RecordedGuest& guest = trace.guests[g];
  Admission admission;
  admission.number = g;
  admission.at = in_microseconds(guest.at);
  admission.waited = in_microseconds(guest.waited);
  admission.transaction = trace.transactions;
  admission.session_class = writer.name(NameKind::Class, trace.config.classes[guest.session_class].name);
  if (guest.replica)
    admission.replica = writer.name(NameKind::Replica, trace.config.replicas[*guest.replica].name);
  if (guest.expected_size > 0) admission.expected_size = in_microseconds(guest.expected_size);
  return admission;
}

inline void write_guest(recording::TraceWriter& writer, const RecordedTrace& trace, std::size_t g) {
  using namespace recording;
  const RecordedGuest& guest = trace.guests[g];
  const Admission admission = admission_of(writer, trace, g);
  std::vector<Query> queries;
  double now = guest.at + guest.waited;
  for (const RecordedQuery& q : guest.queries) {
    queries.push_back({in_microseconds(q.pause), in_microseconds(q.response)});
    now += q.pause + q.response;
  }
  if (g % 3 > 0) {
    const NameId who = writer.who({0, admission.session_class, std::nullopt, std::nullopt, std::nullopt});
    writer.add(Whole{admission.at, admission.waited, admission.transaction, who, admission.replica,
                     admission.expected_size, queries, in_microseconds(guest.tail)});
    return;
  }
  writer.add(admission);
  writer.add(Queries{g, queries});
  writer.add(End{g, in_microseconds(now + guest.tail)});
}

// As the router writes it: most in one record, some piece by piece.
inline std::string file_of(const RecordedTrace& trace, std::size_t block_bytes = 4'096) {
  using namespace recording;
  TraceWriter writer({.block_bytes = block_bytes});
  writer.begin_file(0);
  writer.add(Configuration{Offset(0), decide::config_line(trace.config)});
  writer.add(Queue{Offset(0),
                   trace.queue.discipline == policy::QueueDiscipline::ShortestFirst
                       ? QueueOrder::ShortestFirst
                       : QueueOrder::Fcfs,
                   std::chrono::duration_cast<std::chrono::microseconds>(trace.queue.ageing)});
  for (std::size_t g = 0; g < trace.guests.size(); ++g)
    write_guest(writer, trace, g);
  writer.flush();
  const Bytes bytes = writer.take();
  return std::string(as_text(bytes));
}

inline LoadedTrace loaded(const std::string& file) {
  std::istringstream in(file);
  recording::TraceReader reader(in);
  return load_trace(reader);
}

}  // namespace sluice::sim
