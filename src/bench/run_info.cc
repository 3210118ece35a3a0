#include "bench/run_info.h"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "sluice/stats/comparison.h"

#include "sim/table.h"

namespace sluice::bench {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kFormat = 3;

struct NotOurs {};  // thrown and caught in this file, beside nlohmann's own exceptions

// A negative number or a fraction would be converted to something else without a word.
template <class Number>
void read_count(const Json& json, const char* name, Number& value) {
  const Json& found = json.at(name);
  if (!found.is_number_unsigned()) throw NotOurs();
  found.get_to(value);
}

Json json_of(const RunKey& key) {
  return {{"strategy", key.strategy},
          {"budget", key.budget},
          {"mode", key.mode == PoolMode::Transaction ? "transaction" : "session"},
          {"replica_asked", key.ask_replica == AskReplica::PerQuery ? "per query" : "per session"},
          {"workload", key.workload},
          {"scale", key.scale},
          {"digest", key.digest},
          {"terminals", key.terminals},
          {"duration", key.duration},
          {"warm_up", key.warm_up},
          {"lifetime", {key.lifetime_min, key.lifetime_max}},
          {"think", key.think},
          {"premium_share", key.premium_share},
          {"hosts", key.hosts},
          {"query_timeout", key.query_timeout},
          {"connect_timeout", key.connect_timeout},
          {"drain", key.drain},
          {"seed", key.seed},
          {"repetition", key.repetition}};
}

RunKey key_of(const Json& json) {
  RunKey key;
  json.at("strategy").get_to(key.strategy);
  read_count(json, "budget", key.budget);
  if (json.at("mode") == "transaction") key.mode = PoolMode::Transaction;
  if (json.at("replica_asked") == "per query") key.ask_replica = AskReplica::PerQuery;
  json.at("workload").get_to(key.workload);
  json.at("scale").get_to(key.scale);
  json.at("digest").get_to(key.digest);
  read_count(json, "terminals", key.terminals);
  json.at("duration").get_to(key.duration);
  json.at("warm_up").get_to(key.warm_up);
  json.at("lifetime").at(0).get_to(key.lifetime_min);
  json.at("lifetime").at(1).get_to(key.lifetime_max);
  json.at("think").get_to(key.think);
  json.at("premium_share").get_to(key.premium_share);
  json.at("hosts").get_to(key.hosts);
  json.at("query_timeout").get_to(key.query_timeout);
  json.at("connect_timeout").get_to(key.connect_timeout);
  json.at("drain").get_to(key.drain);
  read_count(json, "seed", key.seed);
  read_count(json, "repetition", key.repetition);
  return key;
}

Json json_of(const Losses& lost) {
  return {
      {"timed_out", lost.timed_out}, {"cut", lost.cut}, {"refused", lost.refused}, {"failed", lost.failed}};
}

Losses losses_of(const Json& json) {
  Losses lost;
  read_count(json, "timed_out", lost.timed_out);
  read_count(json, "cut", lost.cut);
  read_count(json, "refused", lost.refused);
  read_count(json, "failed", lost.failed);
  return lost;
}

// Names beside the members of a ResponseSummary or a WaitingSummary.
template <class Summary, class Visit>
void each_time(Summary& s, Visit visit) {
  visit("mean", s.mean);
  visit("median", s.median);
  visit("p95", s.p95);
  if constexpr (requires { s.p99; }) visit("p99", s.p99);
}

template <class Summary>
void add_findings(Json& json, const Summary& s) {
  json["lost"] = json_of(s.lost);
  Json at_least = Json::array();
  each_time(s, [&](const char* name, const Time& time) {
    json[name] = time.seconds;
    if (time.at_least) at_least.push_back(name);
  });
  json["at_least"] = std::move(at_least);
}

template <class Summary>
void read_findings(const Json& json, Summary& s) {
  s.lost = losses_of(json.at("lost"));
  const Json& at_least = json.at("at_least");
  each_time(s, [&](const char* name, Time& time) {
    json.at(name).get_to(time.seconds);
    time.at_least = std::find(at_least.begin(), at_least.end(), name) != at_least.end();
  });
}

Json json_of(const ResponseSummary& s) {
  Json json = {{"queries", s.queries}};
  add_findings(json, s);
  return json;
}

ResponseSummary responses_of(const Json& json) {
  ResponseSummary s;
  read_count(json, "queries", s.queries);
  read_findings(json, s);
  return s;
}

Json json_of(const WaitingSummary& s) {
  Json json = {{"sessions", s.sessions}};
  add_findings(json, s);
  return json;
}

WaitingSummary waiting_of(const Json& json) {
  WaitingSummary s;
  read_count(json, "sessions", s.sessions);
  read_findings(json, s);
  return s;
}

Json classes_json(const RunInfo& info) {
  Json classes = Json::array();
  for (std::size_t c = 0; c < kClassCount; ++c) {
    Json one = json_of(info.summary.classes[c]);
    one["name"] = info.class_names[c];
    one["sessions"] = info.summary.sessions[c];
    one["sessions_failed"] = info.summary.sessions_failed[c];
    one["session_waiting"] = json_of(info.summary.waiting[c]);
    classes.push_back(std::move(one));
  }
  return classes;
}

void read_classes(const Json& classes, RunInfo& info) {
  for (std::size_t c = 0; c < kClassCount; ++c) {
    const Json& one = classes.at(c);
    info.summary.classes[c] = responses_of(one);
    one.at("name").get_to(info.class_names[c]);
    read_count(one, "sessions", info.summary.sessions[c]);
    read_count(one, "sessions_failed", info.summary.sessions_failed[c]);
    info.summary.waiting[c] = waiting_of(one.at("session_waiting"));
  }
}

Json replicas_json(const RunInfo& info) {
  Json replicas = Json::array();
  for (const ReplicaUse& r : info.replicas)
    replicas.push_back({{"name", r.name},
                        {"address", r.address},
                        {"cpu_seconds", r.cpu_seconds},
                        {"cores", r.cores},
                        {"utilization", r.utilization},
                        {"cpu_source", r.cpu_source},
                        {"cores_source", r.cores_source}});
  return replicas;
}

std::vector<double> utilizations(const RunInfo& info) {
  std::vector<double> values;
  for (const ReplicaUse& replica : info.replicas)
    values.push_back(replica.utilization);
  return values;
}

RunInfo info_of(const Json& json) {
  RunInfo info;
  info.key = key_of(json.at("run"));
  read_classes(json.at("classes"), info);
  info.summary.all = responses_of(json.at("all"));
  json.at("server").get_to(info.server);
  json.at("began").get_to(info.began);
  json.at("measured_seconds").get_to(info.measured_seconds);
  read_count(json.at("late"), "sessions", info.summary.late.sessions);
  read_count(json.at("late"), "queries", info.summary.late.queries);
  json.at("late").at("worst").get_to(info.summary.late.worst);
  read_count(json.at("abandoned"), "queries", info.abandoned);
  read_count(json.at("abandoned"), "open", info.abandoned_open);
  for (const Json& one : json.at("replicas")) {
    ReplicaUse& replica = info.replicas.emplace_back();
    one.at("name").get_to(replica.name);
    one.at("address").get_to(replica.address);
    one.at("cpu_seconds").get_to(replica.cpu_seconds);
    one.at("cores").get_to(replica.cores);
    one.at("utilization").get_to(replica.utilization);
    one.at("cpu_source").get_to(replica.cpu_source);
    one.at("cores_source").get_to(replica.cores_source);
  }
  return info;
}

}  // namespace

std::string folder_name(const RunKey& key) {
  return key.strategy + "-" + std::to_string(key.budget) + "-" + std::to_string(key.terminals) + "-" +
         sim::digits(key.premium_share) + "-" + std::to_string(key.repetition);
}

double RunInfo::utilization() const {
  return stats::mean(utilizations(*this));
}

double RunInfo::utilization_cv() const {
  const std::vector<double> u = utilizations(*this);
  return u.empty() ? 0 : stats::coefficient_of_variation(u);
}

std::string to_json(const RunInfo& info) {
  Json json;
  json["format"] = kFormat;
  json["run"] = json_of(info.key);
  json["server"] = info.server;
  json["began"] = info.began;
  json["measured_seconds"] = info.measured_seconds;
  json["classes"] = classes_json(info);
  json["all"] = json_of(info.summary.all);
  json["late"] = {{"sessions", info.summary.late.sessions},
                  {"queries", info.summary.late.queries},
                  {"worst", info.summary.late.worst}};
  json["abandoned"] = {{"queries", info.abandoned}, {"open", info.abandoned_open}};
  if (info.has_utilization()) {
    json["utilization"] = info.utilization();
    json["utilization_cv"] = info.utilization_cv();
  }
  json["replicas"] = replicas_json(info);
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::variant<RunInfo, Problem> parse_run_info(std::string_view text, const std::string& file) {
  const Problem other{file, 0, "this is no run.json of sluice bench"};
  try {
    const Json json = Json::parse(text);
    if (json.at("format") != kFormat)
      return Problem{
          file, 0, "it was measured by another version of Sluice, which counted otherwise: measure it again"};
    return info_of(json);
  } catch (const Json::exception&) {
    return other;
  } catch (const NotOurs&) {
    return other;
  }
}

}  // namespace sluice::bench
