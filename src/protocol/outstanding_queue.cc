#include "protocol/outstanding_queue.h"

namespace sluice::protocol {

void OutstandingQueue::grow() {
  auto larger = std::make_unique<Run[]>(capacity_ * 2);
  for (std::size_t i = 0; i < run_count_; ++i)
    larger[i] = at(i);
  heap_ = std::move(larger);
  capacity_ *= 2;
  first_ = 0;
}

}  // namespace sluice::protocol
