#include "telemetry/reading.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace sluice::telemetry {

Extents Names::extents() const noexcept {
  return {static_cast<std::uint32_t>(classes.size()),    static_cast<std::uint32_t>(replicas.size() + 1),
          static_cast<std::uint32_t>(databases.size()),  static_cast<std::uint32_t>(hosts.size()),
          static_cast<std::uint32_t>(routes.size() + 1), static_cast<std::uint32_t>(budgets.size())};
}

std::string_view Names::value(const LabelInfo& label, std::size_t index) const {
  switch (label.dimension) {
    case Dimension::Fixed:
      return label.value(index);
    case Dimension::Class:
      return classes[index];
    case Dimension::Pool:
      if (index == PoolLabel::mixed().index()) return "mixed";
      if (index == PoolLabel::primary().index()) return "primary";
      return classes[index - 2];
    case Dimension::Server:
      return index == 0 ? std::string_view(primary) : replicas[index - 1];
    case Dimension::Database:
      return databases[index];
    case Dimension::Host:
      return hosts[index];
    case Dimension::Route:
      return index == RouteLabel::other().index() ? std::string_view("other") : routes[index - 1];
    case Dimension::Budget:
      return budgets[index];
    case Dimension::Version:
      return version;
  }
  return {};
}

std::uint64_t HistogramReading::count() const noexcept {
  return std::accumulate(buckets.begin(), buckets.end(), std::uint64_t{0});
}

std::optional<std::chrono::nanoseconds> HistogramReading::quantile(double q) const noexcept {
  const std::uint64_t samples = count();
  if (samples == 0) return std::nullopt;
  const double rank = std::clamp(q, 0.0, 1.0) * static_cast<double>(samples);
  double below = 0;
  for (std::size_t i = 0; i < kBounds; ++i) {
    const auto here = static_cast<double>(buckets[i]);
    if (here > 0 && below + here >= rank) {
      const double low = i == 0 ? 0.0 : static_cast<double>(kBoundsNs[i - 1]);
      const double high = static_cast<double>(kBoundsNs[i]);
      const double part = std::max(0.0, rank - below) / here;
      return std::chrono::nanoseconds(std::llround(low + part * (high - low)));
    }
    below += here;
  }
  return std::chrono::nanoseconds(kBoundsNs.back());
}

std::optional<std::chrono::nanoseconds> HistogramReading::mean() const noexcept {
  const std::uint64_t samples = count();
  if (samples == 0) return std::nullopt;
  return std::chrono::nanoseconds(sum_ns / samples);
}

HistogramReading& HistogramReading::operator+=(const HistogramReading& other) noexcept {
  for (std::size_t i = 0; i < kBuckets; ++i)
    buckets[i] += other.buckets[i];
  sum_ns += other.sum_ns;
  return *this;
}

HistogramReading& HistogramReading::operator-=(const HistogramReading& earlier) noexcept {
  for (std::size_t i = 0; i < kBuckets; ++i)
    buckets[i] -= std::min(buckets[i], earlier.buckets[i]);
  sum_ns -= std::min(sum_ns, earlier.sum_ns);
  return *this;
}

std::optional<std::size_t> Reading::place(MetricId id, const Indices& indices,
                                          std::size_t count) const noexcept {
  const MetricInfo& metric = metric_table()[static_cast<std::size_t>(id)];
  std::size_t at = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t extent = layout_.extents().of(metric.labels[i].dimension, metric.labels[i].count);
    if (indices[i] >= extent) return std::nullopt;
    at = at * extent + indices[i];
  }
  return at;
}

std::uint64_t Reading::cell(MetricId id, const Indices& indices, std::size_t count) const noexcept {
  const auto at = place(id, indices, count);
  return at ? cells_[layout_.offset(id) + *at] : 0;
}

std::uint64_t Reading::sum(MetricId id) const noexcept {
  const std::size_t from = layout_.offset(id);
  const std::size_t next = static_cast<std::size_t>(id) + 1;
  const std::size_t to = next < kMetricCount ? layout_.offset(static_cast<MetricId>(next)) : layout_.cells();
  std::uint64_t total = 0;
  for (std::size_t i = from; i < to; ++i)
    total += cells_[i];
  return total;
}

HistogramReading Reading::histogram_at(MetricId id, const Indices& indices,
                                       std::size_t count) const noexcept {
  HistogramReading histogram;
  const auto at = place(id, indices, count);
  if (!at) return histogram;
  const std::size_t from = layout_.offset(id) + *at * kHistogramCells;
  for (std::size_t i = 0; i < kBuckets; ++i)
    histogram.buckets[i] = cells_[from + i];
  histogram.sum_ns = cells_[from + kBuckets];
  return histogram;
}

HistogramReading Reading::over_pools(MetricId id, policy::ClassId session_class) const noexcept {
  HistogramReading all;
  const std::size_t pools = layout_.extents().of(Dimension::Pool, 0);
  for (std::size_t pool = 0; pool < pools; ++pool)
    all += histogram_at(id, {LabelTraits<policy::ClassId>::index(session_class), pool}, 2);
  return all;
}

HistogramReading Reading::response_of(policy::ClassId session_class) const noexcept {
  return over_pools(MetricId::response_seconds, session_class);
}

HistogramReading Reading::wait_of(policy::ClassId session_class) const noexcept {
  return over_pools(MetricId::wait_seconds, session_class);
}

std::vector<ClassStats> class_stats(const Reading& reading) {
  std::vector<ClassStats> stats;
  for (std::uint32_t i = 0; i < reading.names().classes.size(); ++i) {
    const policy::ClassId id(i);
    ClassStats& row = stats.emplace_back();
    row.name = reading.names().classes[i];
    row.sessions = reading.value(metric::sessions, id, ServerLabel::primary());
    row.opened = reading.value(metric::sessions_opened_total, id, ServerLabel::primary());
    for (std::uint32_t r = 0; r < reading.names().replicas.size(); ++r) {
      row.sessions += reading.value(metric::sessions, id, ServerLabel(policy::ReplicaId(r)));
      row.opened += reading.value(metric::sessions_opened_total, id, ServerLabel(policy::ReplicaId(r)));
    }
    row.waiting = reading.value(metric::sessions_waiting, id);
    for (const policy::Outcome outcome : policy::kOutcomes)
      row.outcomes.push_back(reading.value(metric::decisions_total, id, outcome));
    row.response = reading.response_of(id);
    row.wait = reading.wait_of(id);
  }
  return stats;
}

std::vector<DatabaseStats> database_stats(const Reading& reading) {
  std::vector<DatabaseStats> stats;
  for (std::uint32_t i = 0; i < reading.names().databases.size(); ++i) {
    const DatabaseLabel id(i);
    const auto time = [&](auto row) { return std::chrono::nanoseconds(reading.value(row, id)); };
    DatabaseStats& row = stats.emplace_back();
    row.name = reading.names().databases[i];
    row.server_assignments = reading.value(metric::server_assignments_total, id);
    row.transactions = reading.value(metric::transactions_total, id);
    row.queries = reading.value(metric::queries_total, id);
    row.logins = reading.value(metric::client_logins_total, id);
    row.bytes_received = reading.value(metric::client_received_bytes_total, id);
    row.bytes_sent = reading.value(metric::client_sent_bytes_total, id);
    row.transaction_time = time(metric::transaction_seconds_total);
    row.query_time = time(metric::query_seconds_total);
    row.wait_time = time(metric::wait_seconds_total);
  }
  return stats;
}

}  // namespace sluice::telemetry
