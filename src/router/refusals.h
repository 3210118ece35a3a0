#pragma once

#include "protocol/error_response.h"

namespace sluice::router {

// Why a session, or in transaction mode a transaction, gets no server. FATAL: a session ends with it.
protocol::ErrorFields no_replica();
// PgBouncer's text, which its users' alerts look for.
protocol::ErrorFields waited_too_long();

}  // namespace sluice::router
