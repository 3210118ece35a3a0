#include "telemetry/exposition.h"

#include <algorithm>
#include <string>

#include "base/assert.h"

namespace sluice::telemetry {
namespace {

constexpr double kNsPerSecond = 1e9;
using Indices = std::array<std::size_t, kLabelsMax>;

prometheus::MetricType type_of(Kind kind) {
  switch (kind) {
    case Kind::Counter:
    case Kind::TimeCounter:
      return prometheus::MetricType::Counter;
    case Kind::Gauge:
    case Kind::Sampled:
      return prometheus::MetricType::Gauge;
    case Kind::Histogram:
      return prometheus::MetricType::Histogram;
  }
  return prometheus::MetricType::Untyped;
}

prometheus::ClientMetric with_labels(const Names& names, const MetricInfo& metric, const Indices& indices) {
  prometheus::ClientMetric series;
  for (std::size_t i = 0; i < metric.labels.size(); ++i)
    series.label.push_back(
        {std::string(metric.labels[i].name), std::string(names.value(metric.labels[i], indices[i]))});
  return series;
}

void fill_histogram(prometheus::ClientMetric::Histogram& out, std::span<const std::uint64_t> cells) {
  std::uint64_t cumulative = 0;
  out.bucket.reserve(kBounds);
  for (std::size_t i = 0; i < kBounds; ++i) {
    cumulative += cells[i];
    out.bucket.push_back({cumulative, static_cast<double>(kBoundsNs[i]) / kNsPerSecond});
  }
  // The serializer adds the bucket of infinity from the count.
  out.sample_count = cumulative + cells[kBounds];
  out.sample_sum = static_cast<double>(cells[kBuckets]) / kNsPerSecond;
}

// True when the series is worth a line.
bool fill(prometheus::ClientMetric& series, const MetricInfo& metric, std::span<const std::uint64_t> cells) {
  const bool always = metric.labels.size() < 2;
  switch (metric.kind) {
    case Kind::Counter:
      series.counter.value = static_cast<double>(cells[0]);
      return always || cells[0] != 0;
    case Kind::TimeCounter:
      series.counter.value = static_cast<double>(cells[0]) / kNsPerSecond;
      return always || cells[0] != 0;
    case Kind::Gauge:
      // Sums of shares that are read one after another may dip below zero for a moment.
      series.gauge.value =
          static_cast<double>(std::max<std::int64_t>(0, static_cast<std::int64_t>(cells[0])));
      return true;
    case Kind::Histogram:
      fill_histogram(series.histogram, cells);
      return series.histogram.sample_count > 0;
    case Kind::Sampled:
      break;
  }
  return false;
}

void add_stored(prometheus::MetricFamily& family, const MetricInfo& metric, const Reading& reading) {
  const Layout& layout = reading.layout();
  std::array<std::size_t, kLabelsMax> extents = {1, 1};
  for (std::size_t i = 0; i < metric.labels.size(); ++i)
    extents[i] = layout.extents().of(metric.labels[i].dimension, metric.labels[i].count);
  const std::size_t width = metric.kind == Kind::Histogram ? kHistogramCells : 1;
  std::size_t at = layout.offset(metric.id);
  for (std::size_t a = 0; a < extents[0]; ++a) {
    for (std::size_t b = 0; b < extents[1]; ++b, at += width) {
      prometheus::ClientMetric series = with_labels(reading.names(), metric, {a, b});
      if (fill(series, metric, reading.cells().subspan(at, width)))
        family.metric.push_back(std::move(series));
    }
  }
}

void add_sampled(prometheus::MetricFamily& family, const MetricInfo& metric, const Reading& reading,
                 const Samples& samples) {
  for (const Samples::Sample& sample : samples.all()) {
    if (sample.id != metric.id) continue;
    bool known = true;
    for (std::size_t i = 0; i < metric.labels.size(); ++i)
      known &= sample.indices[i] <
               reading.layout().extents().of(metric.labels[i].dimension, metric.labels[i].count);
    if (!known) continue;
    prometheus::ClientMetric series = with_labels(reading.names(), metric, sample.indices);
    series.gauge.value = sample.value;
    family.metric.push_back(std::move(series));
  }
}

}  // namespace

std::vector<prometheus::MetricFamily> to_families(const Reading& reading, const Samples& samples,
                                                  Component component) {
  std::vector<prometheus::MetricFamily> families;
  for (const MetricInfo& metric : metric_table()) {
    if (metric.component != component && metric.component != Component::Both) continue;
    prometheus::MetricFamily family;
    family.name = "sluice_" + std::string(metric.name);
    family.help = std::string(metric.help);
    family.type = type_of(metric.kind);
    if (metric.kind == Kind::Sampled) {
      add_sampled(family, metric, reading, samples);
    } else {
      add_stored(family, metric, reading);
    }
    if (!family.metric.empty()) families.push_back(std::move(family));
  }
  return families;
}

}  // namespace sluice::telemetry
