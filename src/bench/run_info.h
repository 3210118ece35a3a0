#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "bench/problem.h"
#include "bench/query_stream.h"
#include "bench/summary.h"

namespace sluice::bench {

enum class PoolMode { Session, Transaction };  // of the router, as the person who runs this says
enum class AskReplica { PerSession, PerQuery };

// What decides how a run goes, and what tells it from others: all but what came out.
struct RunKey {
  std::string strategy = "default";
  std::size_t budget = 0;  // replicas, as a label; 0: not said
  PoolMode mode = PoolMode::Session;
  AskReplica ask_replica = AskReplica::PerSession;
  std::string workload, scale = "1";
  std::string digest;  // of the workload's files
  std::size_t terminals = 300;
  double duration = 60, warm_up = 10;
  double lifetime_min = 10, lifetime_max = 30;
  std::string think = "0";
  double premium_share = 0.5;
  std::vector<std::string> hosts;  // told with sluice.host; empty: nothing is told
  double query_timeout = 600, connect_timeout = 60, drain = 60;  // seconds
  std::uint64_t seed = 1;  // of the whole; a run's own follows from it and the repetition
  std::size_t repetition = 1;

  friend bool operator==(const RunKey&, const RunKey&) = default;
};

// "<strategy>-<budget>-<terminals>-<share>-<repetition>".
std::string folder_name(const RunKey&);

inline constexpr const char* kWholeMachine = "all processors of the machine";

struct ReplicaUse {
  std::string name, address;
  double cpu_seconds = 0, cores = 0, utilization = 0;  // over the measured time
  // In words: where the processor time was read, and what `cores` are, such as kWholeMachine.
  std::string cpu_source, cores_source;
};

struct RunInfo {
  RunKey key;
  std::array<std::string, kClassCount> class_names = {"premium", "freemium"};
  std::string server;  // host:port/database, without user and password
  std::string began;   // ISO 8601, UTC
  double measured_seconds = 0;
  Summary summary;
  // Queries that were given up and cancelled at the server, and how many of them it had not ended when the
  // run was over: the next run may meet those.
  std::size_t abandoned = 0, abandoned_open = 0;
  std::vector<ReplicaUse> replicas;  // those whose processor time was read

  bool has_utilization() const noexcept { return !replicas.empty(); }
  double utilization() const;     // u: mean of the replicas'
  double utilization_cv() const;  // CV(u) of the replicas, as a whole population
};

// run.json.
std::string to_json(const RunInfo&);
// `file` is for the problem's message.
std::variant<RunInfo, Problem> parse_run_info(std::string_view text, const std::string& file);

}  // namespace sluice::bench
