#include "telemetry/metrics.h"

#include <algorithm>
#include <bit>

#include "base/assert.h"

namespace sluice::telemetry {
namespace {

template <class T>
constexpr LabelInfo label_info() {
  using Traits = LabelTraits<T>;
  if constexpr (Traits::kDimension == Dimension::Fixed) {
    return {Traits::kDimension, Traits::kName, Traits::kCount, &Traits::value};
  } else {
    return {Traits::kDimension, Traits::kName, 0, nullptr};
  }
}
template <class List>
struct LabelInfos;
template <class... L>
struct LabelInfos<LabelList<L...>> {
  static_assert(sizeof...(L) <= kLabelsMax);
  static constexpr std::array<LabelInfo, sizeof...(L)> kInfos = {label_info<L>()...};
};

#define L(...) LabelList<__VA_ARGS__>
constexpr std::array<MetricInfo, kMetricCount> kTable = {{
#define M(kind, name, unit, labels, help) \
  {MetricId::name, COMPONENT, Kind::kind, #name, unit, help, LabelInfos<labels>::kInfos},
#define COMPONENT Component::Router
#include "telemetry/metrics.def"
#undef COMPONENT
#define COMPONENT Component::Placer
#include "telemetry/placer_metrics.def"
#undef COMPONENT
#define COMPONENT Component::Both
#include "telemetry/common_metrics.def"
#undef COMPONENT
#undef M
}};
#undef L

std::size_t width_of(Kind kind) noexcept {
  switch (kind) {
    case Kind::Counter:
    case Kind::TimeCounter:
    case Kind::Gauge:
      return 1;
    case Kind::Sampled:
      return 0;
    case Kind::Histogram:
      return kHistogramCells;
  }
  return 0;
}

Extents with_room(const Extents& wanted) noexcept {
  const auto room = [](std::uint32_t n) { return std::bit_ceil(std::max<std::uint32_t>(n, 4)); };
  return {room(wanted.classes), room(wanted.servers), room(wanted.databases),
          room(wanted.hosts),   room(wanted.routes),  room(wanted.budgets)};
}

}  // namespace

std::span<const MetricInfo> metric_table() noexcept {
  return kTable;
}

Layout::Layout(const Extents& extents) : extents_(extents) {
  for (const MetricInfo& metric : kTable) {
    std::size_t series = 1;
    for (const LabelInfo& label : metric.labels)
      series *= extents.of(label.dimension, label.count);
    offsets_[static_cast<std::size_t>(metric.id)] = cells_;
    cells_ += series * width_of(metric.kind);
  }
}

ThreadMetrics::ThreadMetrics(const Extents& extents) : block_(nullptr), current_(nullptr) {
  blocks_.push_back(std::make_unique<Block>(with_room(extents)));
  block_ = blocks_.back().get();
  current_.store(block_, std::memory_order_release);
}

void ThreadMetrics::fit(const Extents& extents) {
  const Extents& have = block_->layout.extents();
  if (have.holds(extents)) return;
  const Extents wider{std::max(have.classes, extents.classes),     std::max(have.servers, extents.servers),
                      std::max(have.databases, extents.databases), std::max(have.hosts, extents.hosts),
                      std::max(have.routes, extents.routes),       std::max(have.budgets, extents.budgets)};
  auto grown = std::make_unique<Block>(with_room(wider));
  std::vector<std::uint64_t> cells(grown->layout.cells());
  add_to(cells, grown->layout);
  for (std::size_t i = 0; i < cells.size(); ++i)
    grown->cells[i].store(cells[i], std::memory_order_relaxed);
  blocks_.push_back(std::move(grown));
  block_ = blocks_.back().get();
  current_.store(block_, std::memory_order_release);
}

void ThreadMetrics::add_to(std::span<std::uint64_t> sums, const Layout& layout) const noexcept {
  SLUICE_ASSERT(sums.size() == layout.cells());
  const Block& block = *current_.load(std::memory_order_acquire);
  for (const MetricInfo& metric : kTable) {
    const std::size_t width = width_of(metric.kind);
    if (width == 0) continue;
    // Rows of the last label are contiguous in both; the first label, where there are two, strides.
    std::size_t outer = 1, from_inner = 1, to_inner = 1;
    if (!metric.labels.empty()) {
      const LabelInfo& last = metric.labels.back();
      from_inner = block.layout.extents().of(last.dimension, last.count);
      to_inner = layout.extents().of(last.dimension, last.count);
    }
    if (metric.labels.size() == 2) {
      const LabelInfo& first = metric.labels.front();
      outer = std::min(block.layout.extents().of(first.dimension, first.count),
                       layout.extents().of(first.dimension, first.count));
    }
    const std::size_t run = std::min(from_inner, to_inner) * width;
    for (std::size_t row = 0; row < outer; ++row) {
      const std::size_t from = block.layout.offset(metric.id) + row * from_inner * width;
      const std::size_t to = layout.offset(metric.id) + row * to_inner * width;
      for (std::size_t i = 0; i < run; ++i)
        sums[to + i] += block.cells[from + i].load(std::memory_order_relaxed);
    }
  }
}

}  // namespace sluice::telemetry
