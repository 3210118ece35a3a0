#include "admin/router_view.h"

namespace sluice::admin {
namespace {

std::int64_t per_second(std::int64_t before, std::int64_t now, Micros period) {
  if (period.count() <= 0 || now <= before) return 0;
  // In floating point: a byte counter times a million does not fit 64 bits for long.
  return static_cast<std::int64_t>(static_cast<double>(now - before) * 1e6 /
                                   static_cast<double>(period.count()));
}

std::int64_t per_event(std::int64_t time_before, std::int64_t time_now, std::int64_t count_before,
                       std::int64_t count_now) {
  if (count_now <= count_before || time_now <= time_before) return 0;
  return (time_now - time_before) / (count_now - count_before);
}

}  // namespace

StatsCounters average_between(const StatsCounters& before, const StatsCounters& now, Micros period) {
  const auto rate = [&](std::int64_t StatsCounters::*field) {
    return per_second(before.*field, now.*field, period);
  };
  StatsCounters average;
  average.server_assignment_count = rate(&StatsCounters::server_assignment_count);
  average.xact_count = rate(&StatsCounters::xact_count);
  average.query_count = rate(&StatsCounters::query_count);
  average.bytes_received = rate(&StatsCounters::bytes_received);
  average.bytes_sent = rate(&StatsCounters::bytes_sent);
  average.xact_time_us = per_event(before.xact_time_us, now.xact_time_us, before.xact_count, now.xact_count);
  average.query_time_us =
      per_event(before.query_time_us, now.query_time_us, before.query_count, now.query_count);
  average.wait_time_us = rate(&StatsCounters::wait_time_us);
  average.client_parse_count = rate(&StatsCounters::client_parse_count);
  average.server_parse_count = rate(&StatsCounters::server_parse_count);
  average.bind_count = rate(&StatsCounters::bind_count);
  average.client_login_count = rate(&StatsCounters::client_login_count);
  return average;
}

}  // namespace sluice::admin
