// What the service manager is told.

#include <algorithm>
#include <string>

#include "placer/placer.h"
#include "service/signs_of_life.h"

namespace sluice::placer {

void Placer::begin_service() {
  notifier_.ready(status_line());
  loop_watch_ = service::signs_of_life(notifier_, control_.get_executor(), service::loops_of(workers_));
  if (loop_watch_) tasks_.spawn("loop watch", loop_watch_->run());
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
