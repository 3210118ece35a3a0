// What a connection waits for too long.

#include "placer/connection.h"
#include "placer/worker.h"

namespace sluice::placer {

using telemetry::HostFailure;
using telemetry::PlacerRefusal;

void Connection::tick(Clock::time_point now) {
  switch (phase_) {
    case Phase::Head:
      if (now >= deadline_) {
        if (!head_begun_) {
          // Nobody is told that it was idle too long, but one that never said a word.
          if (requests_ == 0)
            worker_.metrics().count(telemetry::metric::placer_refusals_total, PlacerRefusal::HeaderTimeout);
          close_all();
        } else {
          refuse(408, "The head of the request did not come in time.", PlacerRefusal::HeaderTimeout);
        }
      } else if (!head_begun_ && deadline_ - now < options().keepalive_timeout - Worker::kParkAfter) {
        client_.park();
      }
      break;
    case Phase::Exchange:
    case Phase::Tunnel:
      check_exchange(now);
      break;
    case Phase::Refusing:
    case Phase::Linger:
      if (now >= deadline_) close_all();
      break;
    case Phase::Connecting:
    case Phase::Closed:
      break;
  }
  settle();
}

void Connection::check_exchange(Clock::time_point now) {
  const auto waited = now - last_progress_;
  if (phase_ == Phase::Tunnel) {
    if (waited >= options().tunnel_idle_timeout) client_gone(PlacerRefusal::WriteStall);
    return;
  }
  if (client_.waiting_to_write()) {
    if (waited >= options().write_stall_timeout) client_gone(PlacerRefusal::WriteStall);
    return;
  }
  if (upstream_->channel().waiting_to_write()) {
    if (waited >= options().write_stall_timeout)
      fail_exchange(504, "The compute host " + host_name() + " does not take the request.",
                    HostFailure::WriteStall, PlacerRefusal::HostTimeout);
    return;
  }
  if (upload_ == Progress::Body && download_ == Progress::Head) {
    if (waited < options().request_body_timeout) return;
    return refuse_body(408, "The body of the request did not come in time.", PlacerRefusal::BodyTimeout);
  }
  if (download_ == Progress::Head) {
    if (waited >= options().response_header_timeout)
      fail_exchange(504, "The compute host " + host_name() + " did not answer in time.",
                    HostFailure::HeaderTimeout, PlacerRefusal::HostTimeout);
    return;
  }
  if (waited >= options().response_body_timeout)
    fail_exchange(504, "The compute host " + host_name() + " fell silent in the middle of its answer.",
                  HostFailure::BodyTimeout, PlacerRefusal::HostTimeout);
}

}  // namespace sluice::placer
