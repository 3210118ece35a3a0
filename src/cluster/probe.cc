#include "cluster/probe.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"

namespace sluice::cluster {
namespace {

using pgclient::PgErrc;
using pgclient::PgError;

// Qualified throughout: a search_path of the database must not put other functions in the way. CASE keeps
// pg_current_wal_lsn() from being called in recovery, where it is an error.
constexpr const char* kRecoveryQuery =
    "SELECT pg_catalog.pg_is_in_recovery(),"
    " CASE WHEN pg_catalog.pg_is_in_recovery() THEN NULL"
    " ELSE pg_catalog.pg_wal_lsn_diff(pg_catalog.pg_current_wal_lsn(), '0/0') END,"
    " pg_catalog.pg_wal_lsn_diff(pg_catalog.pg_last_wal_receive_lsn(), '0/0'),"
    " pg_catalog.pg_wal_lsn_diff(pg_catalog.pg_last_wal_replay_lsn(), '0/0'),"
    " pg_catalog.date_part('epoch',"
    " pg_catalog.clock_timestamp() - pg_catalog.pg_last_xact_replay_timestamp()) * 1000,"
    " CASE WHEN pg_catalog.pg_is_in_recovery()"
    " THEN (pg_catalog.pg_stat_get_wal_receiver()).received_tli"
    " ELSE ('x' || pg_catalog.left(pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_lsn()), 8))"
    "::bit(32)::int END";

std::optional<std::uint64_t> position(const std::optional<std::string>& text) {
  return text ? to_number<std::uint64_t>(*text) : std::nullopt;
}

std::optional<std::chrono::milliseconds> milliseconds(const std::optional<std::string>& text) {
  if (!text) return std::nullopt;
  double value = 0;
  const auto [end, ec] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (ec != std::errc() || !(value > 0)) return std::chrono::milliseconds(0);
  constexpr double kYearMs = 366.0 * 86'400'000;  // more is no lag but a wrong clock
  return std::chrono::milliseconds(std::llround(std::min(value, kYearMs)));
}

}  // namespace

asio::awaitable<pgclient::PgResult<ProbeAnswer>> probe(pgclient::Client& client,
                                                       std::chrono::milliseconds timeout) {
  const auto started = std::chrono::steady_clock::now();
  // Named and moved in: GCC 12 destroys temporaries of a co_await twice.
  std::string sql = "SELECT 1";
  std::vector<std::optional<std::string>> no_parameters;
  auto one = co_await client.query(std::move(sql), std::move(no_parameters), timeout);
  if (!one) co_return one.error();
  ProbeAnswer answer;
  answer.round_trip = std::chrono::steady_clock::now() - started;

  const auto left = timeout - std::chrono::duration_cast<std::chrono::milliseconds>(answer.round_trip);
  std::string recovery = kRecoveryQuery;
  std::vector<std::optional<std::string>> none;
  auto rows = co_await client.query(std::move(recovery), std::move(none), left);
  if (!rows) co_return rows.error();
  if (rows->rows.size() != 1 || rows->rows[0].size() != 6 || !rows->rows[0][0])
    co_return PgError{Error(PgErrc::UnexpectedResult, Side::Server), "",
                      "unexpected answer to a health check"};
  const auto& row = rows->rows[0];
  answer.in_recovery = *row[0] == "t";
  answer.written = position(row[1]);
  answer.received = position(row[2]);
  answer.replayed = position(row[3]);
  answer.since_last_commit = milliseconds(row[4]);
  answer.timeline = position(row[5]);
  co_return answer;
}

}  // namespace sluice::cluster
