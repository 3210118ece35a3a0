#pragma once

#include <string>

#include "config/config.h"
#include "protocol/error_response.h"
#include "telemetry/labels.h"

namespace sluice::router {

// Why a session, or in transaction mode a transaction, gets no server. FATAL: a session ends with it.
protocol::ErrorFields no_replica();
protocol::ErrorFields no_primary(const config::Config& config);
// PgBouncer's text, which its users' alerts look for.
protocol::ErrorFields waited_too_long();
// `limit`: as Admission::waits_for() has it.
protocol::ErrorFields waited_in_queue(const std::string& limit);
// `limit`: as Admission::Rejected has it.
protocol::ErrorFields too_many_wait(const std::string& limit);
telemetry::RejectReason reason_of_wait_limit(const std::string& limit);

// PgBouncer's NOTICE for who waits long.
protocol::ErrorFields client_queued();

}  // namespace sluice::router
