#pragma once

#include <chrono>

#include "trace/comment.h"
#include "trace/route_name.h"

namespace sluice::trace {

using TimePoint = std::chrono::steady_clock::time_point;

// A call: one Query, or one Sync with the batch before it.
// begin: its first byte came from the client. end: its ReadyForQuery came from the server.
struct Call {
  TraceId trace;  // none: the call is known to be its route's, but not which request's
  TimePoint begin{}, end{};
  std::chrono::nanoseconds
      response{};       // end less begin, or less the ReadyForQuery before it where that is later
  bool failed = false;  // the server sent an error in it
};

// Takes finished calls that name a route or belong to a trace with one.
class CallSink {
 public:
  virtual ~CallSink() = default;
  virtual void finished(const Call& call, const RouteName& route) = 0;
};

}  // namespace sluice::trace
