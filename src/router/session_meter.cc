#include "router/session_meter.h"

#include <string_view>
#include <utility>

namespace sluice::router {

void SessionMeter::flush() noexcept {
  const std::uint64_t up = std::exchange(from_client_, 0);
  const std::uint64_t down = std::exchange(from_server_, 0);
  totals_.client_bytes += up;
  totals_.server_bytes += down;
  if (up > 0) {
    metrics_.add(telemetry::metric::client_received_bytes_total, up, database_);
    metrics_.add(telemetry::metric::server_sent_bytes_total, up, server_);
  }
  if (down > 0) {
    metrics_.add(telemetry::metric::server_received_bytes_total, down, server_);
    metrics_.add(telemetry::metric::client_sent_bytes_total, down, database_);
  }
}

void SessionMeter::on_error(const protocol::ErrorClass& error) noexcept {
  ++totals_.errors;
  if (trace_) trace_->calls.on_error();
  metrics_.count(telemetry::metric::errors_total,
                 telemetry::sqlstate_class(std::string_view(error.sqlstate.data(), error.sqlstate.size())));
  metrics_.count(telemetry::metric::host_errors_total, host_);
}

}  // namespace sluice::router
