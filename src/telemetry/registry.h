#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>

#include "telemetry/metrics.h"
#include "telemetry/reading.h"

namespace sluice::telemetry {

// Where callbacks put the values of Sampled metrics.
class Samples {
 public:
  struct Sample {
    MetricId id;
    std::array<std::size_t, kLabelsMax> indices;
    double value;
  };
  template <class... L>
  void set(Row<Kind::Sampled, L...> row, double value, std::type_identity_t<L>... labels) {
    samples_.push_back({row.id, {LabelTraits<L>::index(labels)...}, value});
  }
  const std::vector<Sample>& all() const noexcept { return samples_; }

 private:
  std::vector<Sample> samples_;
};

// All metrics of the process. Every member may be called from any thread.
// A reload: set_names() first, then on each thread its ThreadMetrics::fit(registry.extents()), then use ids
// of the new names. Nothing counted is lost: threads keep their totals, ids keep their names.
class Registry final : public prometheus::Collectable {
 public:
  // `component`: whose metrics are exported.
  explicit Registry(Names names, Component component = Component::Router);

  // The object lives as long as the registry, also after its thread has ended.
  ThreadMetrics& add_thread();
  // Leaves the routes as they are where `names` has none.
  void set_names(Names names);
  // The list only grows; a name may change once the writing thread has cleared its series.
  void set_routes(std::vector<std::string> routes);
  Extents extents() const;
  std::shared_ptr<const Names> names() const;

  // `sampler` is called at each scrape on the scraping thread, under no lock of ours.
  void add_sampler(std::function<void(Samples&)> sampler);

  Reading read() const;
  std::vector<prometheus::MetricFamily> Collect() const override;
  // The text that Prometheus reads.
  std::string exposition() const;

 private:
  const Component component_;
  mutable std::mutex mutex_;
  std::shared_ptr<const Names> names_;
  std::vector<std::unique_ptr<ThreadMetrics>> threads_;
  std::vector<std::function<void(Samples&)>> samplers_;
  const std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
};

}  // namespace sluice::telemetry
