#include "telemetry/registry.h"

#include <prometheus/text_serializer.h>

#include "base/assert.h"
#include "telemetry/exposition.h"

namespace sluice::telemetry {

Registry::Registry(Names names, Component component)
    : component_(component), names_(std::make_shared<const Names>(std::move(names))) {}

ThreadMetrics& Registry::add_thread() {
  const std::lock_guard lock(mutex_);
  threads_.push_back(std::make_unique<ThreadMetrics>(names_->extents()));
  return *threads_.back();
}

void Registry::set_names(Names names) {
  const std::lock_guard lock(mutex_);
  if (names.routes.empty()) names.routes = names_->routes;
  SLUICE_ASSERT(names.extents().holds(names_->extents()));
  names_ = std::make_shared<const Names>(std::move(names));
}

void Registry::set_routes(std::vector<std::string> routes) {
  const std::lock_guard lock(mutex_);
  SLUICE_ASSERT(routes.size() >= names_->routes.size());
  auto names = std::make_shared<Names>(*names_);
  names->routes = std::move(routes);
  names_ = std::move(names);
}

Extents Registry::extents() const {
  const std::lock_guard lock(mutex_);
  return names_->extents();
}

std::shared_ptr<const Names> Registry::names() const {
  const std::lock_guard lock(mutex_);
  return names_;
}

void Registry::add_sampler(std::function<void(Samples&)> sampler) {
  const std::lock_guard lock(mutex_);
  samplers_.push_back(std::move(sampler));
}

Reading Registry::read() const {
  const std::lock_guard lock(mutex_);
  const Layout layout(names_->extents());
  std::vector<std::uint64_t> cells(layout.cells());
  for (const auto& thread : threads_)
    thread->add_to(cells, layout);
  return Reading(names_, layout, std::move(cells));
}

std::vector<prometheus::MetricFamily> Registry::Collect() const {
  std::vector<std::function<void(Samples&)>> samplers;
  {
    const std::lock_guard lock(mutex_);
    samplers = samplers_;
  }
  Samples samples;
  samples.set(metric::build_info, 1, VersionLabel{});
  samples.set(metric::uptime_seconds,
              std::chrono::duration<double>(std::chrono::steady_clock::now() - started_).count());
  for (const auto& sampler : samplers)
    sampler(samples);
  return to_families(read(), samples, component_);
}

std::string Registry::exposition() const {
  return prometheus::TextSerializer().Serialize(Collect());
}

}  // namespace sluice::telemetry
