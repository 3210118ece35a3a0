#pragma once

#include <chrono>
#include <string>
#include <vector>

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

// How many cancels of one kind a thread works on: kRunningMax at once, further ones are dropped, as
// PostgreSQL's own queue would; and `rate` per second, refilled all the time, at most one second's worth at
// once. A rate of 0 is none.
class CancelAllowance {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr int kRunningMax = 256;

  // True: give_back() once it is done.
  bool take(double rate, Clock::time_point now);
  void give_back() noexcept { --running_; }

 private:
  int running_ = 0;
  double tokens_ = 0;
  Clock::time_point refilled_at_{};
};

// Sends a CancelRequest and returns when the server closes the connection: by then it has signalled its
// backend, so a connection that is handed on afterwards cannot be hit. Over TLS where sslmode requires it.
// Errors: no connection, or BaseErrc::Timeout when that takes longer than `timeout` altogether.
asio::awaitable<Result<void>> send_cancel(SnapshotPtr snapshot, CancelTarget target,
                                          std::chrono::milliseconds timeout);

// The same to other routers of this machine, by their Unix sockets, one after the other: whose it is, only
// they know. Tells whether any took it. `timeout` for each.
asio::awaitable<bool> pass_cancel_on(std::vector<std::string> paths, protocol::CancelRequest request,
                                     std::chrono::milliseconds timeout);

}  // namespace sluice::router
