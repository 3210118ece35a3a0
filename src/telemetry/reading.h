#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "telemetry/metrics.h"

namespace sluice::telemetry {

// Names of label values, by index. Classes and replicas by the policy's ids: both only grow, since ids stay
// with their names across reloads. Routes by slot; they are the only ones that may be replaced by another
// name, once their series are cleared. All are UTF-8.
struct Names {
  std::vector<std::string> classes, replicas, databases, hosts, routes, budgets;
  std::string primary = "primary";
  std::string version;

  Extents extents() const noexcept;
  std::string_view value(const LabelInfo& label, std::size_t index) const;
};

// A histogram at one moment. Two readings may be subtracted, for the time between them.
struct HistogramReading {
  std::array<std::uint64_t, kBuckets> buckets{};
  std::uint64_t sum_ns = 0;

  std::uint64_t count() const noexcept;
  // Estimate by linear interpolation within the bucket, whose bounds differ by at most 1.67; a value above
  // the last bound is given as that bound. q in [0, 1]. Empty without samples.
  std::optional<std::chrono::nanoseconds> quantile(double q) const noexcept;
  std::optional<std::chrono::nanoseconds> mean() const noexcept;

  HistogramReading& operator+=(const HistogramReading& other) noexcept;
  HistogramReading& operator-=(const HistogramReading& earlier) noexcept;
};

// All threads' counters added up at one moment.
class Reading {
 public:
  Reading(std::shared_ptr<const Names> names, Layout layout, std::vector<std::uint64_t> cells)
      : names_(std::move(names)), layout_(layout), cells_(std::move(cells)) {}

  const Names& names() const noexcept { return *names_; }

  // One series; 0 for labels beyond the names. A gauge may be negative for a moment, while a thread has
  // counted and another has not.
  template <Kind K, class... L>
  std::int64_t value(Row<K, L...> row, std::type_identity_t<L>... labels) const noexcept {
    static_assert(K == Kind::Counter || K == Kind::TimeCounter || K == Kind::Gauge);
    return static_cast<std::int64_t>(cell(row.id, {LabelTraits<L>::index(labels)...}, sizeof...(L)));
  }
  // The sum over all labels. TimeCounter: nanoseconds.
  template <Kind K, class... L>
  std::int64_t total(Row<K, L...> row) const noexcept {
    static_assert(K == Kind::Counter || K == Kind::TimeCounter || K == Kind::Gauge);
    return static_cast<std::int64_t>(sum(row.id));
  }
  template <class... L>
  HistogramReading histogram(Row<Kind::Histogram, L...> row,
                             std::type_identity_t<L>... labels) const noexcept {
    return histogram_at(row.id, {LabelTraits<L>::index(labels)...}, sizeof...(L));
  }
  // All pools of one class together.
  HistogramReading response_of(policy::ClassId session_class) const noexcept;
  HistogramReading wait_of(policy::ClassId session_class) const noexcept;

  const Layout& layout() const noexcept { return layout_; }
  std::span<const std::uint64_t> cells() const noexcept { return cells_; }

 private:
  using Indices = std::array<std::size_t, kLabelsMax>;
  std::optional<std::size_t> place(MetricId id, const Indices& indices, std::size_t count) const noexcept;
  std::uint64_t cell(MetricId id, const Indices& indices, std::size_t count) const noexcept;
  std::uint64_t sum(MetricId id) const noexcept;
  HistogramReading over_pools(MetricId id, policy::ClassId session_class) const noexcept;
  HistogramReading histogram_at(MetricId id, const Indices& indices, std::size_t count) const noexcept;

  std::shared_ptr<const Names> names_;
  Layout layout_;
  std::vector<std::uint64_t> cells_;
};

// What the console and the live table of the demo show.
struct ClassStats {
  std::string name;
  std::int64_t sessions = 0, waiting = 0;
  std::int64_t opened = 0;
  std::vector<std::int64_t> outcomes;  // by policy::Outcome
  HistogramReading response, wait;     // since the start
};
struct DatabaseStats {
  std::string name;
  std::int64_t server_assignments = 0, transactions = 0, queries = 0, logins = 0;
  std::int64_t bytes_received = 0, bytes_sent = 0;  // from and to clients
  std::chrono::nanoseconds transaction_time{}, query_time{}, wait_time{};
};
std::vector<ClassStats> class_stats(const Reading& reading);
std::vector<DatabaseStats> database_stats(const Reading& reading);

}  // namespace sluice::telemetry
