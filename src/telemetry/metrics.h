#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "telemetry/buckets.h"
#include "telemetry/labels.h"

namespace sluice::telemetry {

enum class Kind : std::uint8_t { Counter, TimeCounter, Gauge, Sampled, Histogram };

enum class MetricId : std::uint16_t {
#define M(kind, name, unit, labels, help) name,
#include "telemetry/all_metrics.def"
#undef M
};
inline constexpr std::size_t kMetricCount = 0
#define M(kind, name, unit, labels, help) +1
#include "telemetry/all_metrics.def"
#undef M
    ;

// One row of metrics.def, with its kind and label types in the type.
template <Kind K, class... L>
struct Row {
  MetricId id;
};
template <class... L>
struct LabelList {
  template <Kind K>
  using RowOf = Row<K, L...>;
};

// metric::sessions_opened_total and so on.
namespace metric {
#define L(...) LabelList<__VA_ARGS__>
#define M(kind, name, unit, labels, help) inline constexpr labels::RowOf<Kind::kind> name{MetricId::name};
#include "telemetry/all_metrics.def"
#undef M
#undef L
}  // namespace metric

inline constexpr std::size_t kLabelsMax = 2;
struct LabelInfo {
  Dimension dimension;
  std::string_view name;
  std::size_t count;                                // Fixed only
  std::string_view (*value)(std::size_t) noexcept;  // Fixed only
};
// Which daemon exports a metric.
enum class Component : std::uint8_t { Router, Placer, Both };
struct MetricInfo {
  MetricId id;
  Component component;
  Kind kind;
  std::string_view name, unit, help;
  std::span<const LabelInfo> labels;
};
// The table, in its order.
std::span<const MetricInfo> metric_table() noexcept;

// How many values each label of the configuration may take.
struct Extents {
  std::uint32_t classes = 0, servers = 0, databases = 0, hosts = 0, routes = 0, budgets = 0;

  constexpr std::size_t of(Dimension dimension, std::size_t fixed_count) const noexcept;
  bool holds(const Extents& other) const noexcept {
    return classes >= other.classes && servers >= other.servers && databases >= other.databases &&
           hosts >= other.hosts && routes >= other.routes && budgets >= other.budgets;
  }
};

constexpr std::size_t Extents::of(Dimension dimension, std::size_t fixed_count) const noexcept {
  switch (dimension) {
    case Dimension::Fixed:
      return fixed_count;
    case Dimension::Class:
      return classes;
    case Dimension::Pool:
      return std::size_t{classes} + 2;
    case Dimension::Server:
      return servers;
    case Dimension::Database:
      return databases;
    case Dimension::Host:
      return hosts;
    case Dimension::Route:
      return routes;
    case Dimension::Budget:
      return budgets;
    case Dimension::Version:
      return 1;
  }
  return 0;
}

// Where each metric's cells lie in a flat array. A counter or gauge takes one cell per combination of labels,
// the last label running fastest; a histogram kHistogramCells: its buckets, then the sum in nanoseconds.
inline constexpr std::size_t kHistogramCells = kBuckets + 1;
class Layout {
 public:
  explicit Layout(const Extents& extents);
  const Extents& extents() const noexcept { return extents_; }
  std::size_t cells() const noexcept { return cells_; }
  std::size_t offset(MetricId id) const noexcept { return offsets_[static_cast<std::size_t>(id)]; }

 private:
  Extents extents_;
  std::array<std::size_t, kMetricCount> offsets_{};
  std::size_t cells_ = 0;
};

// The counters of one thread, written by that thread alone: relaxed load, add, relaxed store. Another thread
// may read them at any time. A label that lies beyond what the thread knows is counted as dropped.
class ThreadMetrics {
 public:
  explicit ThreadMetrics(const Extents& extents);
  ThreadMetrics(const ThreadMetrics&) = delete;
  ThreadMetrics& operator=(const ThreadMetrics&) = delete;

  template <class... L>
  void count(Row<Kind::Counter, L...> row, std::type_identity_t<L>... labels) noexcept {
    add(row, 1, labels...);
  }
  template <class... L>
  void add(Row<Kind::Counter, L...> row, std::uint64_t amount, std::type_identity_t<L>... labels) noexcept {
    if (Cell* cell = find<1>(row.id, labels...)) bump(*cell, amount);
  }
  template <class... L>
  void add(Row<Kind::TimeCounter, L...> row, std::chrono::nanoseconds time,
           std::type_identity_t<L>... labels) noexcept {
    if (Cell* cell = find<1>(row.id, labels...)) bump(*cell, as_ns(time));
  }
  // A thread may take away what another has added: only the sum over the threads means something.
  template <class... L>
  void change(Row<Kind::Gauge, L...> row, std::int64_t by, std::type_identity_t<L>... labels) noexcept {
    if (Cell* cell = find<1>(row.id, labels...)) bump(*cell, static_cast<std::uint64_t>(by));
  }
  template <class... L>
  void record(Row<Kind::Histogram, L...> row, std::chrono::nanoseconds time,
              std::type_identity_t<L>... labels) noexcept {
    Cell* cells = find<kHistogramCells>(row.id, labels...);
    if (cells == nullptr) return;
    const std::uint64_t ns = as_ns(time);
    bump(cells[bucket_of(ns)], 1);
    bump(cells[kBuckets], ns);
  }

  // Begins a series anew, for a label that is given to another name.
  template <Kind K, class... L>
  void clear(Row<K, L...> row, std::type_identity_t<L>... labels) noexcept {
    constexpr std::size_t kWidth = K == Kind::Histogram ? kHistogramCells : 1;
    static_assert(K != Kind::Sampled);
    Cell* cells = find<kWidth>(row.id, labels...);
    if (cells == nullptr) return;
    for (std::size_t i = 0; i < kWidth; ++i)
      cells[i].store(0, std::memory_order_relaxed);
  }

  // Makes room for more names after a reload, keeping all counts; call it on the owning thread before labels
  // with the new names are used. The old array stays until the end for readers that still look at it; sizes
  // double, so all old ones together are smaller than the new one.
  void fit(const Extents& extents);

  // From any thread.
  const Layout& layout() const noexcept { return current_.load(std::memory_order_acquire)->layout; }
  // Adds all cells to `sums`, an array for `layout`; what that layout does not hold is left out.
  void add_to(std::span<std::uint64_t> sums, const Layout& layout) const noexcept;

 private:
  using Cell = std::atomic<std::uint64_t>;
  struct Block {
    explicit Block(const Extents& extents) : layout(extents), cells(layout.cells()) {}
    Layout layout;
    std::vector<Cell> cells;
  };

  static void bump(Cell& cell, std::uint64_t amount) noexcept {
    cell.store(cell.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
  }
  template <class T>
  bool place(std::size_t& at, T label) const noexcept {
    using Traits = LabelTraits<T>;
    std::size_t extent = 0;
    if constexpr (Traits::kDimension == Dimension::Fixed) {
      extent = Traits::kCount;
    } else {
      extent = block_->layout.extents().of(Traits::kDimension, 0);
    }
    const std::size_t index = Traits::index(label);
    at = at * extent + index;
    return index < extent;
  }
  template <std::size_t Width, class... L>
  Cell* find(MetricId id, L... labels) noexcept {
    std::size_t at = 0;
    if (!(place(at, labels) && ...)) {
      bump(block_->cells[block_->layout.offset(MetricId::dropped_samples_total)], 1);
      return nullptr;
    }
    return &block_->cells[block_->layout.offset(id) + at * Width];
  }

  std::vector<std::unique_ptr<Block>> blocks_;  // the last is in use
  Block* block_;                                // the same, for the owner
  std::atomic<const Block*> current_;           // the same, for readers
};

}  // namespace sluice::telemetry
