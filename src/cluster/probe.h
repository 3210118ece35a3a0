#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include <asio/awaitable.hpp>

#include "pgclient/client.h"

namespace sluice::cluster {

// What one probe saw. WAL positions in bytes since the beginning of WAL.
struct ProbeAnswer {
  std::chrono::nanoseconds round_trip{};  // of SELECT 1, or of a start-up: see acceptance.h
  std::optional<bool> in_recovery;        // empty: the probe did not log in
  std::optional<std::uint64_t> written;   // not in recovery: where WAL ends now
  std::optional<std::uint64_t> received;  // standby that streams: what it has
  std::optional<std::uint64_t> replayed;  // standby: what its queries see
  std::optional<std::uint64_t> timeline;  // that it writes or receives; of a standby with pg_monitor alone
  // Standby: age of the last commit it replayed, by its own clock; says nothing when it has replayed all.
  std::optional<std::chrono::milliseconds> since_last_commit;
};

// SELECT 1, timed, then one query about recovery. `timeout` is for both together.
asio::awaitable<pgclient::PgResult<ProbeAnswer>> probe(pgclient::Client& client,
                                                       std::chrono::milliseconds timeout);

}  // namespace sluice::cluster
