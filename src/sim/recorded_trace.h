#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sluice/policy/admission_queue.h"
#include "sluice/policy/pool_config.h"

#include "recording/trace_reader.h"

namespace sluice::sim {

// What the router recorded, as a simulation takes it. Times in seconds.
struct RecordedQuery {
  double pause = 0;     // before it, since the answer before or since the replica was given
  double response = 0;  // recorded
};

struct RecordedGuest {
  double at = 0;                    // when it asked for a replica
  double waited = 0;                // for it
  std::uint32_t session_class = 0;  // index in the configuration
  std::optional<std::uint32_t>
      replica;  // index in the configuration; none where it was refused or is not there now
  std::vector<RecordedQuery> queries;
  double tail = 0;           // from the last answer to the end
  double expected_size = 0;  // of all its queries together, before it began; 0: not known
};

struct RecordedTrace {
  policy::PoolConfig config;          // of the recording
  policy::QueueSettings queue;        // the same; a trace of version 1 does not say
  std::vector<RecordedGuest> guests;  // as they asked
  double duration = 0;                // up to the last moment in it
  bool transactions = false;          // most guests are transactions
  std::uint64_t unended = 0;          // guests whose end is not in the trace
  std::uint64_t refused = 0;          // left out of `guests`
  std::uint64_t sized = 0;            // guests whose size was expected
  bool cut_short = false;             // there was more than may be kept
  bool config_changed = false;        // there was more than one: the first counts
  std::optional<recording::Damage> damage;
  std::uint64_t query_count = 0;
};

struct LoadedTrace {
  RecordedTrace trace;
  std::string problem;  // empty, or why there is nothing to simulate
};
// Everything before the first damage. `guests_max` and `queries_max` bound the memory: what is beyond is left
// out (cut_short). Times add up to what nanoseconds can count.
LoadedTrace load_trace(recording::TraceReader&, std::uint64_t guests_max = 20'000'000,
                       std::uint64_t queries_max = 200'000'000);

}  // namespace sluice::sim
