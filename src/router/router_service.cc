// What the service manager is told.

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "router/router.h"
#include "telemetry/log.h"

namespace sluice::router {

// Whoever asked for signs of life gets two per period, so that one may be late.
void Router::begin_service() {
  notifier_.ready(status_line());
  const auto period = notifier_.watchdog();
  if (!period) return;
  std::vector<asio::any_io_executor> loops;
  for (const auto& worker : shared_->workers)
    loops.emplace_back(worker->context().get_executor());
  loop_watch_ = std::make_unique<service::LoopWatch>(
      control_.get_executor(), std::move(loops), *period / 2, [this] { notifier_.alive(); },
      [](std::size_t missing) {
        log::error("threads do not answer; the service manager may end the process", {{"threads", missing}});
      });
  tasks_.spawn("loop watch", loop_watch_->run());
}

std::string Router::status_line() const {
  const policy::Snapshot pools = admission_->snapshot();
  const auto configured = std::count_if(pools.replicas.begin(), pools.replicas.end(),
                                        [](const auto& replica) { return replica.configured; });
  const auto up = std::count_if(pools.replicas.begin(), pools.replicas.end(),
                                [](const auto& replica) { return replica.configured && replica.up; });
  std::string line = shared_->shutting_down.load() ? "Shutting down: " : "";
  line += std::to_string(admission_->session_count()) + " sessions, " + std::to_string(up) + " of " +
          std::to_string(configured) + " replicas up";
  if (const SnapshotPtr current = snapshot(); current->servers.contains(kPrimary))
    line += primary_up() ? ", primary up" : ", primary down";
  return line;
}

}  // namespace sluice::router
