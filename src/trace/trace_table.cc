#include "trace/trace_table.h"

#include <iterator>
#include <utility>

namespace sluice::trace {

void TraceTable::add(const Call& call, std::uint32_t host, RouteNumber route, TimePoint now) {
  const auto [place, added] = by_key_.try_emplace(Key{call.trace, route, host}, traces_.end());
  if (added) {
    traces_.push_back({place->first, {}, now});
    place->second = std::prev(traces_.end());
  } else {
    traces_.splice(traces_.end(), traces_, place->second);
  }
  Trace& trace = *place->second;
  trace.touched = now;
  calls_ -= trace.chain.held();
  trace.chain.add(call.begin, call.end);
  calls_ += trace.chain.held();
  while (traces_.size() > settings_.traces_max || (calls_ > settings_.calls_max && traces_.size() > 1))
    close_oldest();
}

void TraceTable::close_idle(TimePoint now) {
  while (!traces_.empty() && now - traces_.front().touched >= settings_.idle)
    close_oldest();
}

void TraceTable::close_oldest() {
  const Trace& trace = traces_.front();
  const RouteNumber route = trace.key.route;
  const std::uint32_t n_serial = trace.chain.length();
  calls_ -= trace.chain.held();
  by_key_.erase(trace.key);
  traces_.pop_front();
  close_(route, n_serial);
}

bool TraceTable::check_invariant() const {
  std::size_t calls = 0;
  TimePoint last = TimePoint::min();
  for (const Trace& trace : traces_) {
    calls += trace.chain.held();
    if (trace.touched < last) return false;
    last = trace.touched;
  }
  return calls == calls_ && by_key_.size() == traces_.size() && traces_.size() <= settings_.traces_max;
}

}  // namespace sluice::trace
