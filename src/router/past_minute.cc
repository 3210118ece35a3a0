#include "router/past_minute.h"

#include <cstdint>
#include <utility>

namespace sluice::router {

void PastMinute::add(TimePoint now, const telemetry::Reading& reading) {
  now_.clear();
  for (std::uint32_t i = 0; i < reading.names().classes.size(); ++i)
    now_.push_back({reading.response_of(policy::ClassId(i)), reading.wait_of(policy::ClassId(i))});
  if (past_.empty() || now - past_.back().at >= kStep) past_.push_back({now, now_});
  // One that is a minute old is kept, for the difference to it.
  while (past_.size() > 1 && now - past_[1].at >= kSpan)
    past_.pop_front();
}

PastMinute::OfClass PastMinute::of(policy::ClassId id) const {
  const std::size_t index = id.value();
  if (index >= now_.size()) return {};
  OfClass recent = now_[index];
  if (index < past_.front().classes.size()) {
    recent.response -= past_.front().classes[index].response;
    recent.wait -= past_.front().classes[index].wait;
  }
  return recent;
}

}  // namespace sluice::router
