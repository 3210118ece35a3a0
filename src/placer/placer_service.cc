// What the service manager is told.

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "placer/placer.h"
#include "telemetry/log.h"

namespace sluice::placer {

// Whoever asked for signs of life gets two per period, so that one may be late.
void Placer::begin_service() {
  notifier_.ready(status_line());
  const auto period = notifier_.watchdog();
  if (!period) return;
  std::vector<asio::any_io_executor> loops;
  for (const auto& worker : workers_)
    loops.emplace_back(worker->context().get_executor());
  loop_watch_ = std::make_unique<service::LoopWatch>(
      control_.get_executor(), std::move(loops), *period / 2, [this] { notifier_.alive(); },
      [](std::size_t missing) {
        log::error("threads do not answer; the service manager may end the process", {{"threads", missing}});
      });
  tasks_.spawn("loop watch", loop_watch_->run());
}

std::string Placer::status_line() const {
  const auto& hosts = snapshot_->hosts;
  const auto up = std::count_if(hosts.begin(), hosts.end(),
                                [](const HostPtr& host) { return host->up.load(std::memory_order_relaxed); });
  return (shutting_down_ ? "Shutting down: " : "") + std::to_string(shared_.client_connections.load()) +
         " connections, " + std::to_string(up) + " of " + std::to_string(hosts.size()) +
         " compute hosts up, policy " + policy_.summary;
}

}  // namespace sluice::placer
