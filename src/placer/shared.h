#pragma once

#include <atomic>
#include <cstddef>
#include <memory>

#include "placer/access_log.h"

namespace sluice::placer {

// What the threads of one placer share beside views.
struct Shared {
  std::atomic<std::size_t> client_connections{0};
  std::atomic<std::size_t> workers_running{0};
  // Whoever came before one has stopped is a connection.
  std::atomic<std::size_t> listeners_accepting{0};
  std::atomic<std::size_t> upstream_idle{0};
  std::shared_ptr<AccessLog::File> access_log;  // null: none. Set before the threads start
};

}  // namespace sluice::placer
