#pragma once

#include <chrono>

#include <asio/awaitable.hpp>

#include "cluster/probe.h"
#include "pgclient/client.h"

namespace sluice::cluster {

// The probe without a role of its own: does the server answer a start-up? Connects, sends a StartupMessage
// for `params.database` as the role "sluice", which need not exist, waits for the first message and closes.
// A request to authenticate and any refusal but one count: only a server that is starting up or shutting down
// (57P03) accepts nobody. Without TLS, whatever `params` say, for nothing secret is sent.
// round_trip is the time of the whole; nothing else of the answer is known. Errors: the network's,
// BaseErrc::Timeout, PgErrc::LoginFailed (57P03), PgErrc::UnexpectedResult (not PostgreSQL),
// PgErrc::ConnectionLost (closed without an answer).
asio::awaitable<pgclient::PgResult<ProbeAnswer>> probe_acceptance(pgclient::ConnectParams params,
                                                                  std::chrono::milliseconds timeout);

}  // namespace sluice::cluster
