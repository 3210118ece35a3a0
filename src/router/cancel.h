#pragma once

#include <chrono>
#include <string>

#include <asio/awaitable.hpp>

#include "base/bytes.h"
#include "base/result.h"
#include "protocol/startup_packet.h"
#include "router/snapshot.h"

namespace sluice::router {

// Which query to cancel, by the key that the server gave for its connection.
struct CancelTarget {
  ServerId server;
  std::int32_t process_id = 0;
  Bytes secret;
};

// Sends a CancelRequest and returns when the server closes the connection: by then it has signalled its
// backend, so a connection that is handed on afterwards cannot be hit. Over TLS where sslmode requires it.
// Errors: no connection, or BaseErrc::Timeout when that takes longer than `timeout` altogether.
asio::awaitable<Result<void>> send_cancel(SnapshotPtr snapshot, CancelTarget target,
                                          std::chrono::milliseconds timeout);

// The same to another router of this machine, by the Unix socket `path`.
asio::awaitable<Result<void>> pass_cancel_on(std::string path, protocol::CancelRequest request,
                                             std::chrono::milliseconds timeout);

}  // namespace sluice::router
