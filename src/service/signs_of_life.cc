#include "service/signs_of_life.h"

#include <cstddef>
#include <utility>

#include "telemetry/log.h"

namespace sluice::service {

std::unique_ptr<LoopWatch> signs_of_life(Notifier& notifier, asio::any_io_executor home,
                                         std::vector<asio::any_io_executor> loops) {
  const auto period = notifier.watchdog();
  if (!period) return nullptr;
  return std::make_unique<LoopWatch>(
      std::move(home), std::move(loops), *period / 2, [&notifier] { notifier.alive(); },
      [](std::size_t missing) {
        log::error("threads do not answer; the service manager may end the process", {{"threads", missing}});
      });
}

}  // namespace sluice::service
