#pragma once

#include <memory>
#include <vector>

#include <asio/any_io_executor.hpp>

#include "service/loop_watch.h"
#include "service/notifier.h"

namespace sluice::service {

// A watch over these event loops that tells the notifier, which must outlive it, that they turn: two signs of
// life per period that the service manager asks for, so that one may be late. Threads that do not answer are
// logged. Null where no manager asks; else its run() is to be spawned.
std::unique_ptr<LoopWatch> signs_of_life(Notifier& notifier, asio::any_io_executor home,
                                         std::vector<asio::any_io_executor> loops);

// The event loops of a daemon's workers.
template <class Workers>
std::vector<asio::any_io_executor> loops_of(const Workers& workers) {
  std::vector<asio::any_io_executor> loops;
  for (const auto& worker : workers)
    loops.emplace_back(worker->context().get_executor());
  return loops;
}

}  // namespace sluice::service
